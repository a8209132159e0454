-- judgeserver.lua: QingdaoU's JudgeServer, for the OnlineJudge in front of it.
--
-- POST /ping, /judge and /compile_spj, with X-Judge-Server-Token.  As there,
-- the answer is HTTP 200 with "err" and "data"; a judge shows any err as a
-- compile error, so what goes wrong with us is a result of the cases.  Python 3
-- and Node.js run here; the rest goes on to the judge behind.
--
--     location / {
--         sandbox any;
--         sandbox_policy lua/judgeserver.lua token=TOKEN pass=@judge;
--     }
--
-- Keys:
--   token=TOKEN        required; clients send its SHA-256
--   pass=@name         where other languages, special judges and programs that
--                      use files go; without it they are refused
--   prefix=/path       what stands before /judge; nothing by default
--   hostname=NAME, cpu_core=N, judger_version=V   for /ping
--   output=SIZE        what a program may print for each case on the disk, by
--                      default 1m; 127 MiB divided by their number at most
--   service_url=URL    this server as the judge's front reaches it, for the
--                      heartbeats that sandbox_heartbeat sends
--   unavailable=503    what could not be run (all busy, supervisor away) is
--                      answered so, for error_page

local MIB = 1 << 20
local MOST_ANSWER = 256 * MIB       -- of all cases together
local CASE_BYTES = 16 << 10         -- of a verdict beside its output

local WRONG_ANSWER, SUCCESS, CPU_TIME, REAL_TIME, MEMORY, RUNTIME_ERROR,
      SYSTEM_ERROR = -1, 0, 1, 2, 3, 4, 5
local INVALID_CONFIG, FORK_FAILED = -1, -2

local TOKEN = sha256(config.token or error("token=… is missing"))
local DISK_OUTPUT = size(config.output or "1m")
                    or error("output is no size such as 1m")
local PREFIX = config.prefix or ""


local function reply(err, data)
    return { body = { err = err or null, data = data }, status = 200,
             headers = { ["Content-Type"] = "application/json" } }
end

local function fail(data)
    return reply("JudgeClientError", data)
end

-- What the judge behind can do, if there is one.
local function hand_over(what)
    if config.pass then return { pass = config.pass } end

    return fail(what .. " is not supported here")
end

-- None, false, "", 0, [] and {} are all nothing to Python.
local function given(value)
    return value ~= nil and value ~= null and value ~= false and value ~= ""
           and value ~= 0 and not (type(value) == "table" and not next(value))
end


-- Python's words for arguments that are not there.
local function missing(name, data, wanted)
    local names = {}

    for _, key in ipairs(wanted) do
        if data[key] == nil then names[#names + 1] = "'" .. key .. "'" end
    end

    if #names == 0 then return nil end

    local last = table.remove(names)
    local list = #names == 0 and last
                 or table.concat(names, ", ") .. (#names > 1 and "," or "")
                    .. " and " .. last

    return fail(("TypeError :%s() missing %d required positional argument%s: %s")
                :format(name, #names + 1, #names > 0 and "s" or "", list))
end


-- The language of a command and its arguments, or nil: "/usr/bin/python3 -BS
-- {exe_path}".  Plain python is Python 2 where these templates come from.
-- Options are the other judge's way of starting it, so they are left out.
local function read_command(command, max_memory)
    local values = { exe_dir = "/tmp/run",
                     max_memory = tostring(max_memory // 1024) }
    local words = {}

    for word in command:gmatch("%S+") do words[#words + 1] = word end

    local name = (words[1] or ""):match("[^/]*$")
    local language = name:find("^python3[%d.]*$") and "python"
                     or (name == "node" or name == "nodejs") and "node"
    local i = 2

    while words[i] and words[i]:find("^%-") do i = i + 1 end

    if not language or words[i] ~= "{exe_path}" then return nil end

    local args = {}

    for j = i + 1, #words do
        args[#args + 1] = words[j]:gsub("{([%w_]+)}", values)
    end

    return language, args
end

-- "NAME=value" in a list, as a table.
local function read_env(list)
    local env = {}

    for _, entry in ipairs(given(list) and list or {}) do
        local name, value = tostring(entry):match("^([^=]+)=(.*)$")
        if name then env[name] = value end
    end

    return env
end

local function read_cases(list)
    local cases, longest = {}, 0

    for i, item in ipairs(list) do
        if type(item) ~= "table" or type(item.input) ~= "string"
           or type(item.output) ~= "string"
        then
            return nil
        end

        cases[i] = { stdin = item.input, expected = item.output }
        longest = math.max(longest, #item.output)
    end

    return cases, longest
end


-- -1 and less: without a limit of the request's own.
local function limit(value)
    return value > 0 and value or nil
end

local function make_limits(data, cases, longest)
    local output = DISK_OUTPUT

    if cases then
        output = math.min(math.max(2 * longest, 16 * MIB),
                          MOST_ANSWER // #cases // 2 - CASE_BYTES)
    end

    return {
        cpu_time = limit(data.max_cpu_time),
        timeout = limit(3 * data.max_cpu_time),
        memory = limit(data.max_memory),
        output = output, stack = 128 * MIB,
    }
end

-- The request's fields, or the answer that refuses them.
local function check(data)
    local refusal = missing("judge", data, { "language_config", "src",
                                             "max_cpu_time", "max_memory" })
    if refusal then return refusal end

    local run = type(data.language_config) == "table"
                and data.language_config.run

    if type(run) ~= "table" or type(run.command) ~= "string" then
        return fail("KeyError :'run'")
    end

    if type(data.src) ~= "string" or math.type(data.max_cpu_time) == nil
       or math.type(data.max_memory) == nil
    then
        return fail("TypeError :src, max_cpu_time or max_memory")
    end

    if given(data.test_case) == given(data.test_case_id)
       or given(data.test_case) and type(data.test_case) ~= "table"
    then
        return fail("invalid parameter")
    end
end

local function judge(data)
    local refusal = check(data)
    if refusal then return refusal end

    local run, compile = data.language_config.run, data.language_config.compile
    local language, args = read_command(run.command, data.max_memory)

    if not language then return hand_over("this language") end

    if given(data.spj_version) and given(data.spj_config) then
        return hand_over("a special judge")
    end

    if given(data.io_mode) and data.io_mode.io_mode ~= "Standard IO" then
        return hand_over("File IO")
    end

    compile = given(compile) and compile or nil

    local cases, longest
    if given(data.test_case) then
        cases, longest = read_cases(data.test_case)
        if not cases then return fail("KeyError :'input'") end
    end

    local name = compile and compile.src_name or run.exe_name

    return {
        language = language, args = args, env = read_env(run.env),
        code = data.src ~= "" and data.src or "\n",
        name = type(name) == "string" and name or nil,
        cases = cases, compare = "trimmed",
        cases_from = not cases and tostring(data.test_case_id) or nil,
        limits = make_limits(data, cases, longest),
        keep = { count = cases and #cases or 1, on_disk = not cases,
                 output = data.output == true, compiled = compile ~= nil },
    }
end

-- What a JudgeServer tells about itself.
local function about(action)
    return {
        action = action, hostname = config.hostname or "deer-flow",
        cpu = 0.0, memory = 0.0,
        cpu_core = math.tointeger(tonumber(config.cpu_core)) or 1,
        judger_version = config.judger_version or "2.1.1",
    }
end

local function ping()
    return reply(nil, about("pong"))
end

local function heartbeat()
    local data = about("heartbeat")

    data.service_url = config.service_url or error("service_url=… is missing")

    return { headers = { ["X-Judge-Server-Token"] = TOKEN,
                         ["Content-Type"] = "application/json" },
             body = data }
end

-- A wrong token, say, is HTTP 200 and an error.
local function heard(answer)
    if answer.status ~= 200 then return "status " .. answer.status end

    local data = json.decode(answer.body)

    if type(data) ~= "table" then return "the answer is no JSON" end

    if given(data.error) then return tostring(data.data or data.error) end
end

local function compile_spj()
    if config.pass then return { pass = config.pass } end

    return reply("SPJCompileError", "special judges are not supported here")
end

local routes = { judge = judge, ping = ping, compile_spj = compile_spj }

local function route(req)
    local path = req.uri

    if path:sub(1, #PREFIX) == PREFIX then path = path:sub(#PREFIX + 1) end

    local serve = routes[path:match("^/(.*)$") or ""]

    if not serve then return reply("InvalidRequest", "404") end

    if req.method ~= "POST" then
        local refusal = reply("InvalidRequest", "405")
        refusal.status, refusal.headers.Allow = 405, "POST"
        return refusal
    end

    if not equal(req.headers["x-judge-server-token"] or "", TOKEN) then
        return reply("TokenVerificationFailed", "invalid token")
    end

    -- a body that is no JSON is a call without arguments
    local data = json.decode(req.body)

    return serve(type(data) == "table" and data or {})
end


-- Bytes that are no UTF-8 as "\xff", in short outputs; JSON's encoder makes
-- U+FFFD of them in long ones.
local function readable(text)
    if #text > 8192 or utf8.len(text) then return text end

    return (text:gsub("[\128-\255][\128-\191]*", function(bytes)
        local lead = bytes:byte()
        local n = lead >= 240 and 4 or lead >= 224 and 3 or 2
        local char = bytes:sub(1, n)

        if #char < n or not utf8.len(char) then char = "" end

        return char .. bytes:sub(#char + 1):gsub(".", function(byte)
            return ("\\x%02x"):format(byte:byte())
        end)
    end))
end

-- Without white space at the end; nil when that is longer than anyone means.
local function stripped(text)
    local size, tail = 64, nil

    repeat
        tail = text:sub(-size)
        local last = tail:match("^.*()%S")

        if last then return text:sub(1, #text - #tail + last) end

        size = size * 16
    until #tail == #text or size > 16384

    return #tail == #text and "" or nil
end

-- result, error, exit_code, signal
local function classify(verdict)
    local status = verdict.status

    if status == "success" then
        return verdict.accepted == false and WRONG_ANSWER or SUCCESS, 0, 0, 0
    elseif status == "timeout" then
        return verdict.reason == "wall" and REAL_TIME or CPU_TIME, 0, 0, 9
    elseif status == "memory_exceeded" or status == "oom_killed" then
        return MEMORY, 0, 0, 9
    elseif status == "output_exceeded" then
        return RUNTIME_ERROR, 0, 0, 25
    elseif status == "seccomp_violation" then
        return RUNTIME_ERROR, 0, 0, 31
    elseif verdict.signal then
        return RUNTIME_ERROR, 0, 0, verdict.returncode - 128
    elseif verdict.exit_code and verdict.exit_code > 0 then
        return RUNTIME_ERROR, 0, verdict.exit_code, 0
    end

    return SYSTEM_ERROR,
           status == "invalid" and INVALID_CONFIG or FORK_FAILED, 0, 0
end

local function make_case(verdict, i, keep)
    local result, problem, exit_code, signal = classify(verdict)
    local usage = verdict.usage
    local case = {
        test_case = verdict.name or tostring(i),
        result = result, error = problem,
        exit_code = exit_code, signal = signal,
        cpu_time = math.tointeger(usage.cpu_ms // 1),
        real_time = math.tointeger(usage.wall_ms // 1),
        memory = usage.memory_bytes or 0,
        output_md5 = null, output = null,
    }

    if result == SUCCESS or result == WRONG_ANSWER then
        local text = stripped(verdict.output)
        case.output_md5 = text and md5(text) or null

        -- what the judge keeps of its cases; there may be no more
        if verdict.digest and text then
            case.result = case.output_md5 == verdict.digest and SUCCESS
                          or WRONG_ANSWER
        end
    end

    if keep.output and result ~= SYSTEM_ERROR then
        case.output = readable(verdict.output .. verdict.stderr)
    end

    return case
end

-- Python's message for text that is no program, where JudgeServer compiles
-- first: no traceback, as nothing ran.
local function syntax_error(verdict)
    if verdict.status ~= "error" or verdict.exit_code ~= 1
       or verdict.output ~= ""
    then
        return nil
    end

    local kind = verdict.stderr:match('^  File "[^\n]*\n.*\n(%a+): [^\n]*\n$')
    local found = kind == "SyntaxError" or kind == "IndentationError"
                  or kind == "TabError"

    return found and verdict.stderr:match("^(.*%S)")
end

-- Nothing ran: each case has the same result.
local function refused(verdict, keep)
    local data = json.list {}

    for i = 1, keep.count do data[i] = make_case(verdict, i, keep) end

    return reply(nil, data)
end

-- What is wrong with cases on the disk: no verdict of a run.
local function suite_error(verdict)
    if verdict.status == "internal_error" then
        return verdict.http == 500 and not verdict.reason
               and "Bad test case config"
    end

    return verdict.status == "invalid" and verdict.error
           and verdict.error:find("No such file or directory$")
           and "Test case not found"
end

local function respond(req, verdict)
    local keep, runs = req.keep, verdict.cases
    local mistake = keep and keep.on_disk and suite_error(verdict)

    if mistake then return fail(mistake) end

    if verdict.status == "busy" or verdict.http >= 500 then
        if config.unavailable == "503" then
            return { status = 503, body = { err = null, data = null },
                     headers = { ["Retry-After"] = "1" } }
        end

        return refused(verdict, keep or { count = 1 })
    end

    if verdict.http ~= 200 or keep == nil then
        if verdict.reason == "limit" and keep then
            return refused(verdict, keep)
        end

        return fail(verdict.error or verdict.status)
    end

    local message = keep.compiled and syntax_error(runs[1])
    if message then return reply("CompileError", message) end

    local data = json.list {}
    for i, run in ipairs(runs) do data[i] = make_case(run, i, keep) end

    return reply(nil, data)
end


return { request = route, response = respond, heartbeat = heartbeat,
         heard = heard }
