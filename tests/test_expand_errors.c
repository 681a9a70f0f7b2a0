/* SPDX-License-Identifier: MIT
 *
 * Faulty templates: each is an error that names the template's file and line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "expand.h"
#include "template_folder.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* The place is that of tile.tma.cu unless it begins with a file; "p.cuh" is the second text. */
static const struct {
  const char *text, *piece, *place, *message;
} cases[] = {
    /* Names. */
    {"a\nb ${foo}\n", NULL, ":2: ", "there is no name 'foo'"},
    {"a\n\n//$ local x = foo\n", NULL, ":3: ", "there is no name 'foo'"},
    {"//$ for i = 1, n do\n//$ end\n", NULL, ":1: ", "there is no name 'n'"},
    {"\n${output.bit}\n", NULL, ":2: ", "type e4m3 has no field 'bit'"},
    {"${input.max}\n", NULL, ":1: ", "type bf16 has no field 'max'"},
    {"//$ if mode.tokn == 1 then\n//$ end\n", NULL, ":1: ", "mode rceil has no field 'tokn'"},
    {"${variant.in_type}\n", NULL, ":1: ", "variant has no field"},
    {"${kernel.tile}\n", NULL, ":1: ", "kernel has no field 'tile'"},
    {"//$ x = 1\n", NULL, ":1: ", "write `local x = ...`"},
    {"//$ output.bits = 1\n", NULL, ":1: ", "cannot be changed"},
    {"//$ string.rep = 1\n", NULL, ":1: ", "cannot be changed"},
    /* Holes. */
    {"a\nb ${1 + \nc }\n", NULL, ":2: ", "'${' is not closed on its line"},
    {"${\"}\n", NULL, ":1: ", "'${' is not closed"},
    {"x\n${}\n", NULL, ":2: ", "${}: "},
    {"${1 +}\n", NULL, ":1: ", "${1 +}: "},
    {"${1, 2}\n", NULL, ":1: ", "${1, 2}: "},
    {"${1 -- x}\n", NULL, ":1: ", "${1 -- x}: "},
    {"\n\n${nil}\n", NULL, ":3: ", "${nil} is nil"},
    {"${({})}\n", NULL, ":1: ", "is a table"},
    {"${string.rep}\n", NULL, ":1: ", "is a function"},
    {"${1/0}\n", NULL, ":1: ", "is no finite number"},
    {"${0/0}\n", NULL, ":1: ", "is no finite number"},
    {"a\n${1 + {}}\n", NULL, ":2: ", "arithmetic on a table value"},
    /* Lua lines. */
    {"a\n//$ for i = do\n", NULL, ":2: ", "unexpected symbol near 'do'"},
    {"a\n//$ if true then\nb\n", NULL, ":3: ", "'end' expected (to close 'if' at line 2)"},
    {"a\n//$ end\n", NULL, ":2: ", "near 'end'"},
    {"a\n\n//$ error \"no such thing\"\n", NULL, ":3: ", "no such thing"},
    {"a\n//$ assert(1 > 2, \"one is not\")\n", NULL, ":2: ", "one is not"},
    {"a\n//$ assert(false)\n", NULL, ":2: ", "assertion failed"},
    {"//$ local x = nil .. \"\"\n", NULL, ":1: ", "concatenate a nil value"},
    {"//$ local function f() return f() + 1 end\n//$ f()\n", NULL, ":1: ", "stack overflow"},
    {"\n//$ (\"x\"):bad()\n", NULL, ":2: ", "bad"},
    {"\n//$ string.rep()\n", NULL, ":2: ", "bad argument #1 to 'rep'"},
    {"\n//$ string.format(\"%d\", \"x\")\n", NULL, ":2: ", "number expected"},
    /* Pastes. */
    {"a\n//$ paste \"q.cuh\"\n", NULL, ":2: ", "q.cuh"},
    {"//$ paste \"../x\"\n", NULL, ":1: ", "no folder"},
    {"//$ paste \"\"\n", NULL, ":1: ", "no folder"},
    {"//$ paste \".hidden\"\n", NULL, ":1: ", "no folder"},
    {"//$ paste(1)\n", NULL, ":1: ", "paste takes a template's name"},
    {"//$ paste \"tile.tma.cu\"\n", NULL, ":1: ", "'tile.tma.cu' pastes itself"},
    {"//$ need \"tile.tma.cu\"\n", NULL, ":1: ", "'tile.tma.cu' pastes itself"},
    {"a\n//$ need \"q.cuh\"\n", NULL, ":2: ", "q.cuh"},
    {"//$ need(nil)\n", NULL, ":1: ", "a template's name"},
    {"a\n//$ paste \"p.cuh\"\n", "b\n${foo}\n", "templates/p.cuh:2: ", "no name 'foo'"},
    {"a\n//$ paste \"p.cuh\"\n", "b\nc\n${1\n", "templates/p.cuh:3: ", "is not closed"},
    {"//$ local x = 1\n//$ paste \"p.cuh\"\n", "${x}\n", "templates/p.cuh:1: ", "no name 'x'"},
    {"//$ paste(\"p.cuh\", {n = 1})\n${n}\n", "${n}\n", ":2: ", "no name 'n'"},
    /* What a template may not reach, and what would differ from run to run. */
    {"${load}\n", NULL, ":1: ", "no name 'load'"},
    {"${tostring({})}\n", NULL, ":1: ", "a table has no spelling"},
    {"${string.format(\"%s\", {})}\n", NULL, ":1: ", "a table has no spelling"},
    {"${string.format(\"%p\", \"x\")}\n", NULL, ":1: ", "an address"},
    {"${(\"%-9p\"):format(\"x\")}\n", NULL, ":1: ", "an address"},
    /* What would not end. */
    {"a\n//$ while true do end\n", NULL, ":2: ", "an endless loop"},
    {"//$ local s = \"x\"\n//$ for i = 1, 60 do s = s .. s end\n", NULL, "", "more than 128 MB"},
    {"//$ local t = {}\n//$ for i = 1, 60 do t[i] = (\"x\"):rep(9000000 + i) end\n", NULL, "",
     "more than 128 MB"},
    {"${(\"x\"):rep(1 << 30)}\n", NULL, "", "more than 128 MB"},
};

static void every_fault_names_its_line(void **state) {
  const struct template_folder *folder = *state;
  for (size_t i = 0; i < COUNT(cases); ++i) {
    char *source = NULL, place[64] = "";
    const int named = strncmp(cases[i].place, "templates/", 10) == 0 || !cases[i].place[0];
    strcat(strcpy(place, named ? "" : "templates/" TEMPLATE_MAIN), cases[i].place);
    if (cases[i].piece)
      template_folder_write(folder, "p.cuh", cases[i].piece, strlen(cases[i].piece));
    if (template_expand(folder, cases[i].text, &source) != MXQ_TEMPLATE_ERROR)
      fail_msg("no error: %s", cases[i].text);
    assert_null(source);
    if (strncmp(mxq_last_error(), place, strlen(place)) != 0 ||
        !strstr(mxq_last_error(), cases[i].message) ||
        !strstr(mxq_last_error(), TEMPLATE_KERNEL ".tma-128x128"))
      fail_msg("%s\n%s\nlacks: %s %s", cases[i].text, mxq_last_error(), place, cases[i].message);
  }
}

/* Of Lua's base library and its others, all that is not in the list is out of reach. */
static void the_sandbox_lacks_the_rest(void **state) {
  const struct template_folder *folder = *state;
  static const char *const lacking[] = {
      "load",
      "loadfile",
      "loadstring",
      "dofile",
      "require",
      "package",
      "print",
      "io",
      "os",
      "debug",
      "coroutine",
      "utf8",
      "pairs",
      "next",
      "pcall",
      "xpcall",
      "rawget",
      "rawset",
      "rawequal",
      "rawlen",
      "_G",
      "_ENV.load",
      "getmetatable",
      "setmetatable",
      "warn",
      "_VERSION",
      "string.dump",
      "math.random",
      "math.randomseed",
      "collectgarbage",
      "table.foreach",
      "host",
      "frozen",
      "scope",
      "pieces",
  };
  for (size_t i = 0; i < COUNT(lacking); ++i) {
    char text[64] = "${type(", *source = NULL;
    strcat(strcat(text, lacking[i]), ")}\n");
    if (template_expand(folder, text, &source) != MXQ_TEMPLATE_ERROR)
      fail_msg("within reach: %s", lacking[i]);
  }
}

static void refuses_files_that_are_no_text(void **state) {
  const struct template_folder *folder = *state;
  static char large[(1 << 20) + 1];
  char *source = NULL;
  memset(large, '\n', sizeof large);
  template_folder_write(folder, "p.cuh", large, sizeof large);
  assert_int_equal(template_expand(folder, "//$ paste \"p.cuh\"\n", &source), MXQ_TEMPLATE_ERROR);
  assert_non_null(strstr(mxq_last_error(), "1 MB"));
  template_folder_write(folder, "p.cuh", large, sizeof large - 1);
  assert_int_equal(template_expand(folder, "//$ paste \"p.cuh\"\n", &source), MXQ_OK);
  template_free(source);
  template_folder_write(folder, "p.cuh", "a\0b\n", 4);
  assert_int_equal(template_expand(folder, "//$ paste \"p.cuh\"\n", &source), MXQ_TEMPLATE_ERROR);
  assert_non_null(strstr(mxq_last_error(), "a byte 0"));
}

static void refuses_what_is_no_kernel_or_folder(void **state) {
  (void)state;
  struct mxq_kernel_id id;
  const struct mxq_arch *arch, *old;
  char *source = NULL;
  assert_int_equal(mxq_kernel_id_parse(TEMPLATE_KERNEL, &id), MXQ_OK);
  assert_int_equal(mxq_arch_parse("90a", &arch), MXQ_OK);
  assert_int_equal(mxq_arch_parse("80", &old), MXQ_OK);
  const struct mxq_allocator *allocator = &mxq_allocator_default;
  assert_int_equal(mxq_expand(allocator, &id, NULL, NULL, &source, NULL), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_expand(allocator, NULL, arch, NULL, &source, NULL), MXQ_INVALID_ARGUMENT);
  assert_int_equal(mxq_expand(allocator, &id, old, NULL, &source, NULL), MXQ_UNSUPPORTED);
  assert_int_equal(mxq_expand(allocator, &id, arch, "/nowhere", &source, NULL), MXQ_IO_ERROR);
  assert_non_null(strstr(mxq_last_error(), "\"/nowhere\""));
  id.tile_n = 1;
  assert_int_equal(mxq_expand(allocator, &id, arch, NULL, &source, NULL), MXQ_INVALID_ARGUMENT);
  assert_null(source);
}

static int make_folder(void **state) {
  static struct template_folder folder;
  folder = template_folder_make();
  *state = &folder;
  return 0;
}

static int remove_folder(void **state) {
  template_folder_remove(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_fault_names_its_line),
      cmocka_unit_test(the_sandbox_lacks_the_rest),
      cmocka_unit_test(refuses_files_that_are_no_text),
      cmocka_unit_test(refuses_what_is_no_kernel_or_folder),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
