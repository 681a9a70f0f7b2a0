# SPDX-License-Identifier: MIT
"""mxq quantize on sharded checkpoints."""
import json
import os

from cli_support import Case, floats, halves, main, quantize, read, write


class Shards(Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("in"))
        self.index = self.path("in/model.safetensors.index.json")
        write(self.path("in/s-1.safetensors"), {"a": floats(32, 16), "n": floats(5)}, {"f": "pt"})
        write(self.path("in/s-2.safetensors"), {"b": halves(2, 32, 16)}, {"f": "pt"})
        self.map = {"b": "s-2.safetensors", "a": "s-1.safetensors", "n": "s-1.safetensors"}
        self.write_index()

    def write_index(self, **changes):
        with open(self.index, "w", encoding="utf-8") as file:
            json.dump({"metadata": {"total_size": 1, "kept": "yes"},
                       "weight_map": {**self.map, **changes}}, file)

    def test_to_shards(self):
        for out in ["folder/", "other/q.index.json"]:
            os.makedirs(self.path("other"), exist_ok=True)
            self.check(quantize(self.index, self.path(out)), 0)
            name = out if out.endswith("json") else out + os.path.basename(self.index)
            with open(self.path(name), encoding="utf-8") as file:
                index = json.load(file)
            self.assertEqual(index["weight_map"], {
                "a": "s-1.safetensors", "a.scale": "s-1.safetensors", "n": "s-1.safetensors",
                "b": "s-2.safetensors", "b.scale": "s-2.safetensors"})
            sizes = 0
            for shard in ["s-1.safetensors", "s-2.safetensors"]:
                metadata, tensors = read(os.path.join(os.path.dirname(self.path(name)), shard))
                self.assertEqual(metadata["f"], "pt")
                sizes += sum(len(data) for _, _, data in tensors.values())
                for tensor in tensors:
                    self.assertEqual(index["weight_map"][tensor], shard)
            self.assertEqual(index["metadata"], {"kept": "yes", "total_size": sizes})

    def test_to_one_file(self):
        self.check(quantize(self.index, self.path("one.safetensors")), 0)
        metadata, out = read(self.path("one.safetensors"))
        self.assertEqual(list(out), ["a", "a.scale", "n", "b", "b.scale"])
        self.assertEqual(list(json.loads(metadata["mxq"])["tensors"]), ["a", "b"])

    def test_bad_indexes(self):
        for changes, pieces in [
            ({"z": "s-1.safetensors"}, ['"z" should be in s-1.safetensors', "none of the files"]),
            ({"a": "s-2.safetensors"}, ['"a" should be in s-2.safetensors', "s-1.safetensors"]),
            ({"a": "../s-1.safetensors"}, ["../s-1.safetensors", "beside the index"]),
            ({"a": "/etc/passwd"}, ["/etc/passwd", "beside the index"]),
            ({"a": "in/s-1.safetensors"}, ["in/s-1.safetensors", "beside the index"]),
            ({"a": "gone.safetensors"}, ["gone.safetensors", "No such file"]),
            ({"a": 5}, ['weight_map["a"]']),
        ]:
            with self.subTest(changes=changes):
                self.write_index(**changes)
                self.check(quantize(self.index, self.path("q/")), 1, *pieces)
                self.assertFalse(os.path.exists(self.path("q")))
        for text in ["", "[]", "{}", '{"weight_map": 5}', '{"weight_map": {}']:
            with open(self.index, "w", encoding="utf-8") as file:
                file.write(text)
            self.check(quantize(self.index, self.path("q/")), 1, "model.safetensors.index.json")

    def test_one_name_in_two_shards(self):
        write(self.path("in/s-2.safetensors"), {"a": halves(2, 32, 16)})
        self.check(quantize(self.index, self.path("q/")), 1, '"a" is in both')

    def test_output_over_the_input(self):
        os.link(self.index, self.path("in/linked.safetensors"))
        before = {name: os.stat(self.path("in/" + name)).st_mtime_ns
                  for name in os.listdir(self.path("in"))}
        for out in ["in/", "in", "in/other.index.json", "in/s-1.safetensors",
                    "in/linked.safetensors"]:
            self.check(quantize(self.index, self.path(out)), 2, "a file of the input")
        self.assertEqual(before, {name: os.stat(self.path("in/" + name)).st_mtime_ns
                                  for name in os.listdir(self.path("in"))})


main()
