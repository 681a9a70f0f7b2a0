-- SPDX-License-Identifier: MIT
-- The template engine. Each template becomes one Lua chunk whose lines are the template's lines, so
-- that Lua's own messages name the right ones. Runs once for each state; returns the function that
-- expands. `host` has read(name), rows (of axes.def), parts and deepest_paste; the rest is what
-- sandbox.lua returns.
local host, frozen, base = ...
local byte, find, format, gsub, match, sub =
  string.byte, string.find, string.format, string.gsub, string.match, string.sub
local concat = table.concat

local scope -- the names of the expansion in progress
local environment = setmetatable({}, {
  __index = function(_, name)
    local value = scope[name]
    if value == nil then error(format("there is no name '%s'", tostring(name)), 2) end
    return value
  end,
  __newindex = function(_, name)
    error(format("'%s' is no local variable: write `local %s = ...`", name, name), 2)
  end,
})

-- Emission -------------------------------------------------------------------------------------

local pieces, at_file, at_line, multiline

-- Tells compilers where the next line comes from, unless they know: it follows the last one. A
-- directive after a backslash would join that line, so it waits for the next chance.
local function locate(file, line)
  local last = pieces[#pieces]
  if sub(last, -2) == "\\\n" then return false end
  local blank = at_file ~= file and sub(last, -2) ~= "\n\n" and last ~= "\n"
  pieces[#pieces + 1] = format('%s#line %d "%s"\n', blank and "\n" or "", line, file)
  return true
end

-- The function that writes lines of a file. Text that stands where no directive can goes out line
-- by line, to the next place where one can.
local function text_of(file)
  local function write(line, lines, text)
    local follows = at_file == file and at_line == line
    if not follows and byte(text) == 10 then -- a blank line reads better before the directive
      pieces[#pieces + 1], text = "\n", sub(text, 2)
      line, lines = line + 1, lines - 1
    end
    if text == "" then return end
    local known = follows or locate(file, line)
    local rest = not known and lines > 1 and find(text, "\n", 1, true)
    pieces[#pieces + 1] = rest and sub(text, 1, rest) or text
    at_file, at_line = file, known and not multiline and line + lines or nil
    multiline = false
    if rest then write(line + 1, lines - 1, sub(text, rest + 1)) end
  end
  return write
end

-- The shortest digits that give the number back; a floating-point number looks like one.
local function spell(number)
  if math.type(number) == "integer" then return format("%d", number) end
  if number ~= number or number - number ~= 0 then return nil end
  local digits
  for precision = 1, 17 do
    digits = format("%." .. precision .. "g", number)
    if tonumber(digits) == number then break end
  end
  return find(digits, "[.e]") and digits or digits .. ".0"
end

local function hole(expression, value)
  local kind = type(value)
  local text = kind == "string" and value or kind == "number" and spell(value)
    or kind == "boolean" and tostring(value)
  if not text then
    error(format("${%s} is %s: only finite numbers, strings and booleans can be spelled",
      expression, kind == "number" and "no finite number" or kind == "nil" and "nil"
      or "a " .. kind), 2)
  end
  multiline = multiline or find(text, "\n", 1, true) ~= nil
  return text
end

-- Compilation ----------------------------------------------------------------------------------

local function fail(file, line, message, ...)
  error(format("%s:%d: " .. message, file, line, ...), 0)
end

-- Text is no part of a chunk, which would have to be quoted and read again: it lies in a list beside
-- it, and KEPT gives it. The expression that stands for it.
local function kept(strings, text)
  strings[#strings + 1] = text
  return "KEPT(" .. #strings .. ")"
end

-- The place of the brace that closes a hole; braces in strings do not count.
local function closing(line, from)
  local depth, delimiter = 1, nil
  local i = from
  while i <= #line do
    local c = sub(line, i, i)
    if delimiter then
      if c == "\\" then i = i + 1 elseif c == delimiter then delimiter = nil end
    elseif c == '"' or c == "'" then delimiter = c
    elseif c == "{" then depth = depth + 1
    elseif c == "}" then
      depth = depth - 1
      if depth == 0 then return i end
    end
    i = i + 1
  end
end

-- The Lua expression that spells a line with holes.
local function with_holes(file, number, line, strings)
  local parts, from = {}, 1
  while true do
    local open = find(line, "${", from, true)
    parts[#parts + 1] = kept(strings, sub(line, from, (open or 0) - 1) .. (open and "" or "\n"))
    if not open then return concat(parts, " .. ") end
    local close = closing(line, open + 2)
    if not close then fail(file, number, "'${' is not closed on its line") end
    local expression = sub(line, open + 2, close - 1)
    local ok, message = load("return (" .. expression .. ")", "=hole", "t", {})
    if not ok then
      fail(file, number, "${%s}: %s", expression, gsub(message, "^hole:%d+: ", ""))
    end
    parts[#parts + 1] = format("HOLE(%s, (%s))", kept(strings, expression), expression)
    from = close + 1
  end
end

local function lines_of(file, text)
  local lines = {}
  if find(text, "\0", 1, true) then fail(file, 1, "a byte 0 is no text") end
  if sub(text, -1) ~= "\n" then text = text .. "\n" end
  if find(text, "\r\n", 1, true) then text = gsub(text, "\r\n", "\n") end
  for line in string.gmatch(text, "([^\n]*)\n") do lines[#lines + 1] = line end
  return lines
end

-- A file's own license comment and include guard, and blank lines around its text, are no part of
-- an expansion. Returns its first and last line and those in between to leave out.
local function trim(lines)
  local first, last = 1, #lines
  local function skip_blank() while first <= last and lines[first] == "" do first = first + 1 end end
  skip_blank()
  local opening = match(lines[first] or "", "^(/[/*]) SPDX%-License%-Identifier:")
  if opening == "/*" then
    while first <= last and not find(lines[first], "*/", 1, true) do first = first + 1 end
    first = first + 1
  elseif opening then
    while first <= last and match(lines[first], "^//[^$]") do first = first + 1 end
  end
  skip_blank()
  while last >= first and lines[last] == "" do last = last - 1 end
  local guard = match(lines[first] or "", "^#ifndef ([%w_]+)$")
  if guard and lines[first + 1] == "#define " .. guard and match(lines[last], "^#endif") then
    first, last = first + 2, last - 1
  end
  skip_blank()
  while last >= first and lines[last] == "" do last = last - 1 end
  return first, last
end

-- The chunk, and the function that gives its text.
local function compile(file, text)
  local lines, code, strings = lines_of(file, text), {}, {}
  local first, last = trim(lines)
  local run -- first of the lines without holes that wait to be written in one piece
  local function flush(to)
    if not run then return end
    local joined = concat(lines, "\n", run, to) .. "\n"
    code[run] = format("TEXT(%d, %d, %s)", run, to - run + 1, kept(strings, joined))
    run = nil
  end
  for i = 1, #lines do code[i] = "" end
  for i = first, last do
    local statement = match(lines[i], "^%s*//%$(.*)$")
    local holes = not statement and find(lines[i], "${", 1, true)
    if statement or holes then flush(i - 1) else run = run or i end
    if statement then code[i] = statement end
    if holes then code[i] = format("TEXT(%d, 1, %s)", i, with_holes(file, i, lines[i], strings)) end
  end
  flush(last)
  code[1] = "local TEXT, HOLE, KEPT = ...; " .. (code[1] or "")
  local chunk, message = load(concat(code, "\n"), "@" .. file, "t", environment)
  if not chunk then error(message, 0) end
  return chunk, function(index) return strings[index] end
end

-- Expansion ------------------------------------------------------------------------------------

local templates, depth = {}, 0 -- compiled ones, by name
local needed -- names of pieces that the expansion has

local function run(name, level)
  local file = "templates/" .. name
  local template = templates[name]
  if not template then
    local text, reason = host.read(name)
    if not text then error(reason, level) end
    template = { text = text_of(file) }
    template.chunk, template.kept = compile(file, text)
    templates[name] = template
  end
  template.chunk(template.text, hole, template.kept)
end

local function paste(name, more)
  if type(name) ~= "string" then error("paste takes a template's name", 3) end
  if depth >= host.deepest_paste then error(format("'%s' pastes itself", name), 3) end
  local outer = scope
  if more then
    scope = setmetatable({}, { __index = outer })
    for key, value in next, more do scope[key] = value end
  end
  depth = depth + 1
  run(name, 4)
  scope, depth = outer, depth - 1
end

-- `paste "x.cuh"`; names in `more` are seen by the pasted file and what it pastes.
function base.paste(name, more) paste(name, more) end

-- `need "x.cuh"`: pastes a piece unless the expansion has it by an earlier `need`.
function base.need(name)
  if needed[name] then return end
  paste(name)
  needed[name] = true
end

local axes = {} -- axes[list][number]: a row of axes.def
for _, row in ipairs(host.rows) do
  local facts = gsub(", " .. row.facts, ",%s*%.([%a_][%w_]*)%s*=", ", %1 =")
  local fields = assert(load("return {" .. sub(facts, 3) .. "}", "=axes.def", "t", {}))()
  for key, value in next, row do if key ~= "facts" then fields[key] = value end end
  axes[row.list] = axes[row.list] or {}
  axes[row.list][row.number] = frozen(row.list .. " " .. row.token, fields)
end

return function(request)
  local numbers = request.variant
  local picked = {
    op = axes.op[numbers.op], input = axes.type[numbers.input],
    output = axes.type[numbers.output], mode = axes.mode[numbers.mode],
    layout = axes.layout[numbers.layout], scales = axes.scales[numbers.scales],
  }
  local tokens = { name = request.variant_name, block = "b" .. numbers.block }
  for name, row in next, picked do tokens[name] = row.token end
  scope = setmetatable(picked, { __index = base })
  scope.held = axes.type[numbers.held]
  scope.block = numbers.block
  scope.variant = frozen("variant", tokens)
  scope.kernel = frozen("kernel", request.kernel)
  scope.arch = frozen("arch", request.arch)
  scope.part = frozen("part", host.parts)
  pieces = { request.header }
  at_file, at_line, multiline, depth, needed = nil, 0, false, 0, {}
  run(request.template, 0)
  return concat(pieces)
end
