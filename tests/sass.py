# SPDX-License-Identifier: MIT
"""How many instructions a kernel has, and how many a thread runs, from nvdisasm's text."""
import re

LABEL = re.compile(r"^(\.L_x_\d+):")
INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?(U?P\w+)\s+)?(\S.*?)\s*;")
BRANCH = re.compile(r"^BRA\S*\s+(?:(!?U?P\d|!?UR\d+)\s*,\s*)?`\((\.L_x_\d+)\)")
# What one thread of a block does for all: copies of tiles, and their barriers.
OF_ONE_THREAD = re.compile(r"^(UTMA|UBLKCP|SYNCS\.(EXCH|ARRIVE))")


# What loops that stage codes have none of: barriers, accesses of global memory, copies.
OTHER_LOOPS = re.compile(r"^(BAR|SYNCS|UTMA|UBLKCP|LDG|STG|LD\.|ST\.)")

DEAD_END = "a way that leads to no EXIT"
AN_END = "an EXIT that some threads take"


class Block:
    """Straight code: instructions, and the labels that may follow; None: what stands behind it."""

    def __init__(self):
        self.instructions, self.next = [], []


def parse(text):
    """The basic blocks in the order of their addresses, and the index of the block of each label."""
    blocks, labels = [Block()], {DEAD_END: -1, AN_END: -1}
    for line in text.splitlines():
        if label := LABEL.match(line):
            if blocks[-1].instructions:
                blocks[-1].next.append(None)
                blocks.append(Block())
            labels[label[1]] = len(blocks) - 1
        elif found := INSTRUCTION.search(line):
            predicate, instruction = found[1], found[2]
            block = blocks[-1]
            block.instructions.append(instruction)
            branch = BRANCH.match(instruction)
            if branch:
                block.next.append(branch[2])
                if predicate or branch[1] or ".DIV" in instruction:
                    block.next.append(None)
            elif instruction.startswith(("BRX", "JMX")):
                raise ValueError(f"no model for {instruction}")
            elif instruction.startswith("RET"):
                block.next.append(DEAD_END)  # of a function, called for rare operands alone
            elif not instruction.startswith("EXIT"):
                continue
            elif predicate:
                block.next += [AN_END, None]
            blocks.append(Block())
    return blocks, labels


def without_padding(blocks, labels):
    """Leaves out what no thread runs: the branch to itself behind the kernel, and NOPs."""
    for index, block in enumerate(blocks):
        itself = [name for name in block.next if name and labels[name] == index]
        if len(block.instructions) == 1 and itself and None not in block.next:
            return blocks[:index]
    return blocks


def in_staging_loops(blocks, labels):
    """The blocks of loops that stage codes or elements in shared memory and do nothing else. All run twice:
    over the halves of a thread's rows (templates/tile.tma.cu), over its runs (tile_runs.cuh), over
    dequantize's steps (dequant_tile.cu)."""
    found = set()
    for index, block in enumerate(blocks):
        for first in (labels[name] for name in block.next if name):
            loop = range(first, index + 1)
            text = [i for b in loop for i in blocks[b].instructions] if 0 <= first <= index else []
            if any(i.startswith("STS") for i in text) and not any(OTHER_LOOPS.match(i) for i in text):
                found.update(loop)
    return found


def longest_path(blocks, labels, forbidden, twice):
    """Instructions from the first block to an EXIT, each loop run once, but those of `twice` twice; None if
    there is no way."""
    longest = [None] * (len(blocks) + 1)
    for index in reversed(range(len(blocks))):
        block = blocks[index]
        if index in forbidden:
            continue
        following = [index + 1 if name is None else labels[name] for name in block.next]
        found = [longest[n] for n in following if n > index and longest[n] is not None]
        if block.next and not found and AN_END not in block.next:
            continue
        runs = 2 if index in twice else 1
        longest[index] = len(block.instructions) * runs + max(found, default=0)
    return longest[0]


def count(text):
    """All instructions of the kernel in `text`, and those of the longest way that a thread can take
    through them: what is unrolled counts as often as it stands there, a loop once, so the loop over
    tiles for the one tile that a block usually has, those that stage codes twice; without what one
    thread alone does for the copy engine. No thread runs more for a tile, most run about that much
    (docs/performance.md)."""
    blocks, labels = parse(text)
    blocks = without_padding(blocks, labels)
    of_one = {index for index, block in enumerate(blocks)
              if any(OF_ONE_THREAD.match(instruction) for instruction in block.instructions)}
    twice = in_staging_loops(blocks, labels)
    path = (longest_path(blocks, labels, of_one, twice) or
            longest_path(blocks, labels, set(), twice))
    return sum(len(block.instructions) for block in blocks), path
