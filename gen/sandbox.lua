-- SPDX-License-Identifier: MIT
-- What templates see of Lua: what is pure, ends, and stays inside. No pairs (its order is none), no
-- pcall (it would catch the end of an endless loop), nothing that loads, prints or asks the system.
-- Returns the function that makes strict read-only tables, and the base names.
local find, format, gsub = string.find, string.format, string.gsub

-- A table that can only be read, and only where it has something.
local function frozen(what, fields)
  return setmetatable({}, {
    __index = function(_, key)
      local value = fields[key]
      if value == nil then error(format("%s has no field '%s'", what, tostring(key)), 2) end
      return value
    end,
    __newindex = function(_, key)
      error(format("%s cannot be changed (field '%s')", what, tostring(key)), 2)
    end,
  })
end

local function pick(library, names)
  local picked = {}
  for name in string.gmatch(names, "%a+") do picked[name] = library[name] end
  return picked
end

local plain = { string = true, number = true, boolean = true, ["nil"] = true }

-- Addresses would differ from run to run.
local function plain_tostring(value)
  if not plain[type(value)] then error("a " .. type(value) .. " has no spelling", 2) end
  return tostring(value)
end

local function plain_format(pattern, ...)
  for i = 1, select("#", ...) do
    local kind = type((select(i, ...)))
    if not plain[kind] then error("format: a " .. kind .. " has no spelling", 2) end
  end
  if type(pattern) == "string" and find(gsub(pattern, "%%%%", ""), "%%[^%a]*p") then
    error("format: %p would spell an address", 2)
  end
  local ok, text = pcall(format, pattern, ...)
  if not ok then error(text, 2) end
  return text
end

local strings = pick(string, "byte char find gmatch gsub len lower match rep reverse sub upper")
strings.format = plain_format
getmetatable("").__index = strings

local base = {
  string = frozen("string", strings),
  table = frozen("table", pick(table, "concat insert move pack remove sort unpack")),
  math = frozen("math", pick(math, "abs ceil floor fmod huge max maxinteger min mininteger modf pi "
    .. "sqrt tointeger type ult")),
  ipairs = ipairs, select = select, tonumber = tonumber, type = type, tostring = plain_tostring,
  assert = function(value, message, ...)
    if not value then error(message and plain_tostring(message) or "assertion failed", 2) end
    return value, message, ...
  end,
  error = function(message) error(plain_tostring(message), 2) end,
}

return frozen, base
