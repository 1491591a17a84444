-- Sends the requests of a template file (load/template.h says what is in one) and prints what came of it as JSON.
--
--   wrk … -s replay.lua URL -- FILE START THREADS
--
-- There is no response() here: it would make wrk hand every answer to Lua. wrk itself counts those that are not 2xx.
-- SPDX-License-Identifier: Apache-2.0

local threads = 0

function setup(thread)
  thread:set("part", threads)
  threads = threads + 1
end

-- A template is cut at its placeholders: pieces has texts at odd and letters at even places.
local function cut(text)
  local pieces, from = {}, 1
  while true do
    local at = string.find(text, "@%l@@@@@@", from)
    if not at then break end
    pieces[#pieces + 1] = string.sub(text, from, at - 1)
    pieces[#pieces + 1] = string.sub(text, at + 1, at + 1)
    from = at + 8
  end
  pieces[#pieces + 1] = string.sub(text, from)
  return { pieces = pieces, uses = 0 }
end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  local line, rest = string.match(text, "^([^\n]*)\n(.*)$")
  for letter, low, high in string.gmatch(line, "(%l)=(%d+)-(%d+)") do
    ranges[letter] = { low = tonumber(low), n = tonumber(high) - tonumber(low) }
  end
  local from = 1
  while true do
    local at = string.find(rest, "\n%%%%\n", from, true)
    found[#found + 1] = string.sub(rest, from, at and at - 1)
    if not at then break end
    from = at + 6
  end
end

function init(args)
  ranges, found, templates = {}, {}, {}
  read(args[1])
  start, step = tonumber(args[2]), tonumber(args[3])
  unique, turn = start + part, 0
  math.randomseed(os.time() * 7 + part * 1009 + start)
  for i, text in ipairs(found) do
    if #found < step or (i - 1) % step == part then templates[#templates + 1] = cut(text) end
  end
  found = nil
  noise = {}
  for i = 1, 1024 do
    local c = {}
    for k = 1, 8 do
      local at = math.random(32)
      c[k] = string.sub("abcdefghijklmnopqrstuvwxyz012345", at, at)
    end
    noise[i] = table.concat(c)
  end
  out = {}
end

local random, format, concat = math.random, string.format, table.concat

function request()
  turn = turn + 1
  local template = templates[(turn - 1) % #templates + 1]
  local pieces, drawn = template.pieces, {}
  for i = 1, #pieces do
    if i % 2 == 1 then
      out[i] = pieces[i]
    else
      local letter = pieces[i]
      if letter == "r" then
        out[i] = noise[random(1024)]
      else
        local text = drawn[letter]
        if not text then
          local n
          if letter == "u" then n = unique
          elseif letter == "p" then n = start + template.uses
          else n = ranges[letter].low + random(ranges[letter].n) - 1 end
          text = format("%08d", n)
          drawn[letter] = text
        end
        out[i] = text
      end
    end
  end
  unique = unique + step
  template.uses = template.uses + 1
  return concat(out, "", 1, #pieces)
end

function done(summary, latency, requests)
  local e = summary.errors
  io.write(format(
    'RESULT {"requests": %d, "seconds": %.3f, "bytes": %d, "rate": %.1f, "p50_us": %d, "p99_us": %d, "max_us": %d, "mean_us": %.1f, "status": %d, "socket": %d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes, summary.requests * 1e6 / summary.duration, latency:percentile(50),
    latency:percentile(99), latency.max, latency.mean, e.status, e.connect + e.read + e.write + e.timeout))
end
