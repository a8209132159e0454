-- judge0.lua: Judge0's synchronous API, for clients written for Judge0.
--
--     location / {
--         sandbox any;
--         sandbox_policy lua/judge0.lua python=71,92 node=63,93;
--     }
--
-- POST /submissions?wait=true runs a program and answers with its result; the
-- lists and the information that clients ask for first are here, too.  There
-- is no store: wait=false, batches and stored submissions are refused.
--
-- Keys behind the file's name:
--   version=1.13.0     what /about says; with "head", and only then, fields are
--                      base64 unless the client says base64_encoded=false
--   python=71,92       the ids of each language; the first one is a client's
--   node=63,93         usual choice
--   python_name=…      what /languages calls them
--   node_name=…
--   token=…            asked for in X-Auth-Token
--   prefix=/path       what stands before /submissions; nothing by default
--   pass=@name         where the rest goes: other languages, wait=false, lists
--                      of languages, stored submissions; without it they are
--                      refused
--   unavailable=503    what runs nowhere here (all busy, supervisor away) is
--                      answered so, for error_page, not in Judge0's own words

local HEAD = config.version == "head"
local VERSION = HEAD and "1.13.1" or config.version or "1.13.0"
local PREFIX = config.prefix or ""
local UNAVAILABLE = config.unavailable == "503"

local languages, language_list = {}, json.list {}

for _, row in ipairs {
    { "python", config.python or "71", config.python_name or "Python (3)" },
    { "node", config.node or "63",
      config.node_name or "JavaScript (Node.js)" },
} do
    for id in row[2]:gmatch("%d+") do
        id = math.tointeger(tonumber(id))
        languages[id] = { id = id, language = row[1], name = row[3] }
        language_list[#language_list + 1] = { id = id, name = row[3] }
    end
end

table.sort(language_list, function(a, b) return a.id < b.id end)

local statuses = {
    "In Queue", "Processing", "Accepted", "Wrong Answer",
    "Time Limit Exceeded", "Compilation Error", "Runtime Error (SIGSEGV)",
    "Runtime Error (SIGXFSZ)", "Runtime Error (SIGFPE)",
    "Runtime Error (SIGABRT)", "Runtime Error (NZEC)", "Runtime Error (Other)",
    "Internal Error", "Exec Format Error",
}

local ACCEPTED, WRONG, TIME, NZEC, OTHER, INTERNAL = 3, 4, 5, 11, 12, 13
local by_signal = { [11] = 7, [25] = 8, [8] = 9, [6] = 10 }

-- Attribute, default, least, most.  The location's ceiling lowers the most, and
-- where it is lower, the default.  unit: of the limit called ceiling.
local numbers = {
    { "number_of_runs", 1, 1, 20, whole = true, positive = true },
    { "cpu_time_limit", 5, 0, 15, ceiling = "cpu_time", unit = 1000 },
    { "cpu_extra_time", 1, 0, 5 },
    { "wall_time_limit", 10, 1, 20, ceiling = "timeout", unit = 1000 },
    { "memory_limit", 128000, 2048, 512000, whole = true,
      ceiling = "memory", unit = 1024 },
    { "stack_limit", 64000, 0, 128000, whole = true,
      ceiling = "stack", unit = 1024 },
    { "max_processes_and_or_threads", 60, 1, 120, whole = true,
      positive = true },
    { "max_file_size", 1024, 0, 4096, whole = true,
      ceiling = "output", unit = 1024 },
}

-- What this judge does not do: asked for, it is an error.
local refused = {
    callback_url = "setting callback is not allowed",
    additional_files = "setting additional files is not allowed",
    compiler_options =
        "setting compiler options is only allowed for compiled languages",
    enable_network = "enabling network is not allowed",
    enable_per_process_and_thread_time_limit = "this option cannot be enabled",
    enable_per_process_and_thread_memory_limit =
        "this option cannot be enabled",
}

local default_fields = {
    "token", "time", "memory", "stdout", "stderr", "compile_output", "message",
    "status",
}

local all_fields = {
    "source_code", "language_id", "stdin", "expected_output", "stdout",
    "status_id", "created_at", "finished_at", "time", "memory", "stderr",
    "token", "number_of_runs", "cpu_time_limit", "cpu_extra_time",
    "wall_time_limit", "memory_limit", "stack_limit",
    "max_processes_and_or_threads", "enable_per_process_and_thread_time_limit",
    "enable_per_process_and_thread_memory_limit", "max_file_size",
    "compile_output", "exit_code", "exit_signal", "message", "wall_time",
    "compiler_options", "command_line_arguments", "redirect_stderr_to_stdout",
    "callback_url", "additional_files", "enable_network", "started_at",
    "queued_at", "updated_at", "queue_host", "execution_host", "status",
    "language",
}

local is_field = {}
for _, name in ipairs(all_fields) do is_field[name] = true end

-- The text fields, which base64 concerns.
local is_text = {
    source_code = true, stdin = true, expected_output = true, stdout = true,
    stderr = true, compile_output = true, message = true,
}


local function answer(status, body)
    return { status = status, body = body,
             headers = { ["Content-Type"] =
                             "application/json; charset=utf-8" } }
end

local function plain(text)
    return { status = 200, body = text,
             headers = { ["Content-Type"] = "text/plain; charset=utf-8" } }
end

local function empty(status)
    return { status = status, body = "",
             headers = { ["Content-Type"] = "text/html" } }
end

local PASS = config.pass and { pass = config.pass }
local NOT_FOUND = answer(404, { status = 404, error = "Not Found" })
local CONVERSION = "some attributes for this submission cannot be converted " ..
                   "to UTF-8, use base64_encoded=true query parameter"


-- As lenient as Ruby's: what is no digit is skipped, the first "=" is the end.
local function decode(text)
    local data = base64.decode(text)

    if data then return data end

    text = text:match("^[^=]*"):gsub("[^%w+/]+", "")
    if #text % 4 == 1 then text = text:sub(1, -2) end

    return base64.decode(text .. ("="):rep(-#text % 4))
end

-- 0.001, 0.25, 1.0: as a float is written in Ruby.
local function seconds(ms)
    local text = ("%.3f"):format(ms / 1000):gsub("0+$", "")
    return (text:gsub("%.$", ".0"))
end

-- The words of a command line as a shell splits them.  Judge0 hands the line to
-- one, without the characters that would mean more than words.
local function split(line)
    local words, word, quote, i = {}, nil, nil, 1

    line = line:gsub("[$&;<>|`]", "")

    while i <= #line do
        local c = line:sub(i, i)

        if c == quote then
            quote = nil
        elseif c == "\\" and quote ~= "'" and i < #line then
            i = i + 1
            word = (word or "") .. line:sub(i, i)
        elseif quote == nil and (c == "'" or c == '"') then
            quote, word = c, word or ""
        elseif quote == nil and c:find("%s") then
            words[#words + 1], word = word, nil
        else
            word = (word or "") .. c
        end

        i = i + 1
    end

    words[#words + 1] = word
    return words
end


-- Fields of a client: JSON, or a form, whose values are all text.
local function parse(req)
    local kind = req.headers["content-type"] or ""

    if kind:find("^%s*application/x%-www%-form%-urlencoded") then
        return query(req.body)
    end

    if req.body == "" then return {} end

    local body = json.decode(req.body)
    return type(body) == "table" and body or nil
end

-- nil, false and "" are alike where Rails asks whether something is there.
local function value(body, name)
    local v = body[name]
    if v == null then v = nil end
    return v
end

local function truth(v)
    return v ~= nil and v ~= false and v ~= "" and v ~= 0 and v ~= "0"
           and v ~= "false" and v ~= "f"
end

-- 0.1 stays, 5.0 is "5": what Rails says about a bound.
local function bound(n)
    return math.tointeger(n) or n
end

local function check_number(row, ceilings, body, sub, complain)
    local name, default, least, most = row[1], row[2], row[3], row[4]
    local v, top = value(body, name), row.ceiling and ceilings[row.ceiling]

    if top then most = math.min(most, math.max(least, top / row.unit)) end
    if v == nil or v == "" then v = math.min(default, most) end

    local n = type(v) ~= "boolean" and type(v) ~= "table" and tonumber(v)

    if not n then
        return complain(name, "is not a number")
    end

    if row.positive and n <= 0 then
        complain(name, "must be greater than 0")
    elseif n < least then
        complain(name, "must be greater than or equal to " .. bound(least))
    elseif not (n <= most) then
        complain(name, "must be less than or equal to " .. bound(most))
    end

    sub[name] = row.whole and n == n and math.abs(n) < 1e15
                and math.tointeger(n // 1) or n
end

local function check_text(name, body, is_base64, sub, complain)
    local v = value(body, name)

    if v == nil then return end
    if type(v) == "table" or type(v) == "boolean" then v = json.encode(v) end

    v = tostring(v)
    sub[name] = is_base64 and decode(v) or v
end

-- A submission, what is wrong with it by attribute, its language, and whether a
-- judge behind could do what this one does not.
local function check(req, body, is_base64)
    local sub, errors = {}, nil

    local function complain(name, text)
        errors = errors or {}
        errors[name] = errors[name] or {}
        table.insert(errors[name], text)
    end

    for _, name in ipairs { "source_code", "stdin", "expected_output" } do
        check_text(name, body, is_base64, sub, complain)
    end

    if not sub.source_code or not sub.source_code:find("%S") then
        complain("source_code", "can't be blank")
    end

    local id = value(body, "language_id")
    sub.language_id = math.tointeger(tonumber(id ~= true and id or nil))
    local language = languages[sub.language_id]

    if id == nil or id == "" then
        complain("language_id", "can't be blank")
    end

    if not language then
        complain("language_id", ("language with id %s doesn't exist")
                 :format(sub.language_id or ""))
    end

    local elsewhere = sub.language_id ~= nil and not language
    local ceilings = language and req.ceilings[language.language] or {}

    for _, row in ipairs(numbers) do
        check_number(row, ceilings, body, sub, complain)
    end

    for name, text in pairs(refused) do
        if truth(value(body, name)) then
            complain(name, text)
            elsewhere = true
        end
    end

    local line = value(body, "command_line_arguments")

    if line ~= nil then
        sub.command_line_arguments = tostring(line)

        if #sub.command_line_arguments > 512 then
            complain("command_line_arguments",
                     "is too long (maximum is 512 characters)")
        end
    end

    sub.redirect_stderr_to_stdout = truth(value(body,
                                                "redirect_stderr_to_stdout"))

    return sub, errors, language, elsewhere
end

-- A list of fields, or the 400.
local function choose_fields(text)
    local chosen, wrong = {}, {}

    for name in (text or ""):gmatch("[^,]+") do
        if name == "*" then
            chosen.all = true
        elseif not is_field[name] then
            wrong[#wrong + 1] = name
        else
            chosen[#chosen + 1] = name
        end
    end

    if #wrong > 0 then
        return nil, answer(400, { error = ("invalid fields: [%s]")
                                          :format(table.concat(wrong, ", ")) })
    end

    return chosen.all and all_fields or #chosen > 0 and chosen
           or default_fields
end


-- The job of a submission.  Extra time is time after which a program is ended
-- that had exceeded its limit before.
local function job(sub, language, fields, is_base64)
    local ms = (sub.cpu_time_limit + sub.cpu_extra_time) * 1000
    local keep = { sub = sub, fields = fields, base64 = is_base64,
                   created_at = timestamp() }
    local cases = {}

    for i = 1, sub.number_of_runs do
        cases[i] = { stdin = sub.stdin, expected = sub.expected_output }
    end

    local result = {
        language = language.language,
        code = sub.source_code,
        name = language.language == "python" and "script.py" or "script.js",
        cases = cases, compare = "lines", stop_at_failure = true,
        args = split(sub.command_line_arguments or ""),
        limits = {
            cpu_time = math.max(1, ms),
            timeout = sub.wall_time_limit * 1000,
            memory = sub.memory_limit * 1024,
            stack = sub.stack_limit > 0 and sub.stack_limit * 1024 or nil,
            processes = sub.max_processes_and_or_threads,
            output = sub.max_file_size > 0 and sub.max_file_size * 1024 or nil,
        },
        keep = keep,
    }

    -- what the answer does not show need not wait for it
    local shown = {}
    for _, name in ipairs(fields) do shown[name] = true end
    if not shown.source_code then sub.source_code = nil end
    if not shown.stdin then sub.stdin = nil end
    if not shown.expected_output then sub.expected_output = nil end

    return result
end

local function submit(req, args)
    local wait = args.wait == "true"
    local is_base64 = args.base64_encoded == "true"
                      or HEAD and args.base64_encoded ~= "false"

    if not wait then
        return PASS or answer(400, {
            error = "only wait=true is served here: there is no store for " ..
                    "results" })
    end

    local fields, mistake = choose_fields(args.fields)
    if mistake then return mistake end

    local body = parse(req)
    if not body then
        return answer(400, { status = 400, error = "Bad Request" })
    end

    local sub, errors, language, elsewhere = check(req, body, is_base64)
    if PASS and elsewhere then return PASS end
    if errors then return answer(422, errors) end

    return job(sub, language, fields, is_base64)
end


-- What one run comes to: id, message, exit code, signal.
local function judge(verdict, sub)
    local status = verdict.status

    if status == "timeout" then
        return TIME, verdict.reason == "wall"
               and "Time limit exceeded (wall clock)" or "Time limit exceeded",
               0
    end

    local signal

    if status == "memory_exceeded" or status == "oom_killed" then
        signal = 9
    elseif status == "output_exceeded" then
        signal = 25
    elseif status == "seccomp_violation" then
        signal = 31
    elseif verdict.signal then
        signal = verdict.returncode - 128
    end

    if verdict.usage.cpu_ms > sub.cpu_time_limit * 1000 then
        return TIME, "Time limit exceeded", 0
    elseif signal then
        return by_signal[signal] or OTHER,
               ("Caught fatal signal %d"):format(signal), 0, signal
    elseif status == "success" then
        return verdict.accepted == false and WRONG or ACCEPTED, nil, 0
    elseif verdict.exit_code and verdict.exit_code > 0 then
        return NZEC, ("Exited with error status %d"):format(verdict.exit_code),
               verdict.exit_code
    end

    return INTERNAL, verdict.error or status, 0
end

-- Of several runs: the first that was not accepted, else the last; time and
-- memory are the means of those up to it.
local function judge_all(runs, sub)
    local result, time, wall, memory = {}, 0, 0, 0

    for i, verdict in ipairs(runs) do
        result.run = verdict
        result.id, result.message, result.exit_code, result.exit_signal =
            judge(verdict, sub)

        time = time + verdict.usage.cpu_ms
        wall = wall + verdict.usage.wall_ms
        memory = memory + (verdict.usage.memory_bytes or 0)
        result.time = seconds(time / i)
        result.wall_time = seconds(wall / i)
        result.memory = math.tointeger(memory // i // 1024)

        if result.id ~= ACCEPTED then break end
    end

    return result
end

local function text(out)
    if out ~= "" then return out end
end

-- The whole record; hosts, and the times between the first and the last, are
-- null.
local function record(result, sub, keep)
    local stdout, stderr = result.run.output, result.run.stderr

    if sub.redirect_stderr_to_stdout then
        stdout, stderr = stdout .. stderr, ""
    end

    local all = {
        stdout = text(stdout), stderr = text(stderr),
        status_id = result.id,
        status = { id = result.id, description = statuses[result.id] },
        language = languages[sub.language_id]
                   and { id = sub.language_id,
                         name = languages[sub.language_id].name },
        message = result.message, time = result.time,
        wall_time = result.wall_time, memory = result.memory,
        exit_code = result.exit_code, exit_signal = result.exit_signal,
        token = uuid(), created_at = keep.created_at,
        finished_at = timestamp(),
        enable_network = false,
        enable_per_process_and_thread_time_limit = false,
        enable_per_process_and_thread_memory_limit = false,
    }

    for name, v in pairs(sub) do all[name] = v end

    for _, name in ipairs { "cpu_time_limit", "cpu_extra_time",
                            "wall_time_limit" } do
        all[name] = seconds(sub[name] * 1000)
    end

    return all
end

-- A supervisor that could run nothing.
local function unavailable(verdict)
    if UNAVAILABLE then
        return { status = 503, body = { error = verdict.error or null },
                 headers = { ["Retry-After"] = "1" } }
    end

    if verdict.status == "busy" then
        return answer(503, { error = "queue is full" })
    end

    if verdict.http < 500 then
        return answer(verdict.http, { error = verdict.error or null })
    end

    return nil
end

local function respond(req, verdict)
    local keep = req.keep

    -- no submission: a body that could not be read
    if keep == nil then return nil end

    local sub, result = keep.sub, nil

    if verdict.http == 200 then
        result = judge_all(verdict.cases, sub)
        verdict = result.run
    end

    if verdict.status == "busy" or verdict.http ~= 200 then
        local refusal = unavailable(verdict)
        if refusal then return refusal end
        result = { run = verdict, id = INTERNAL, exit_code = 0,
                   message = verdict.error }
    end

    local all, body = record(result, sub, keep), {}

    for _, name in ipairs(keep.fields) do
        local v = all[name]

        if v ~= nil and is_text[name] then
            if keep.base64 then
                v = base64.encode(v, 60)    -- MIME's lines
            elseif not utf8.len(v) then
                return answer(201, { error = CONVERSION, token = all.token })
            end
        end

        body[name] = v == nil and null or v
    end

    return answer(201, body)
end


-- /config_info: what Judge0's own names say, true of this one.
local function config_info(req)
    local info = {
        maintenance_mode = false, enable_wait_result = true,
        enable_compiler_options = false,
        allowed_languages_for_compile_options = json.list {},
        enable_command_line_arguments = true,
        enable_submission_delete = false, enable_callbacks = false,
        callbacks_max_tries = 0, callbacks_timeout = 0.0,
        enable_additional_files = false, max_queue_size = 0,
        enable_per_process_and_thread_time_limit = false,
        allow_enable_per_process_and_thread_time_limit = false,
        enable_per_process_and_thread_memory_limit = false,
        allow_enable_per_process_and_thread_memory_limit = false,
        redirect_stderr_to_stdout = false, max_extract_size = 0,
        enable_batched_submissions = false, max_submission_batch_size = 0,
        submission_cache_duration = 0.0, use_docs_as_homepage = false,
        allow_enable_network = false, enable_network = false,
        disable_implicit_base64_encoding = not HEAD,
    }
    local ceilings = req.ceilings.python or req.ceilings.node or {}

    for _, row in ipairs(numbers) do
        local most, top = row[4], row.ceiling and ceilings[row.ceiling]
        if top then most = math.min(most, math.max(row[3], top / row.unit)) end
        info[row[1]] = bound(math.min(row[2], most))
        info["max_" .. row[1]] = bound(most)
    end

    return answer(200, info)
end

local function status_list()
    local list = json.list {}

    for id, description in ipairs(statuses) do
        list[id] = { id = id, description = description }
    end

    return answer(200, list)
end

local routes = {
    ["POST /submissions"] = submit,
    ["POST /submissions/batch"] = function()
        return answer(400, { error = "batched submissions are not allowed" })
    end,
    ["GET /submissions"] = function() return empty(403) end,
    ["GET /languages"] = function() return answer(200, language_list) end,
    ["GET /languages/all"] = function()
        local list = json.list {}
        for i, l in ipairs(language_list) do
            list[i] = { id = l.id, name = l.name, is_archived = false }
        end
        return answer(200, list)
    end,
    ["GET /statuses"] = status_list,
    ["GET /about"] = function()
        return answer(200, {
            version = VERSION, homepage = "https://judge0.com",
            source_code = "https://github.com/judge0/judge0",
            maintainer = "deer-flow, in the words of Judge0" })
    end,
    ["GET /version"] = function() return plain(VERSION) end,
    ["GET /config_info"] = config_info,
    ["POST /authenticate"] = function() return empty(200) end,
    ["POST /authorize"] = function() return empty(403) end,
}

local function route(req, args)
    local path = req.uri:gsub("(.)/+$", "%1")

    if path:sub(1, #PREFIX) == PREFIX then path = path:sub(#PREFIX + 1) end

    local method = req.method == "HEAD" and "GET" or req.method
    local serve = routes[method .. " " .. path]

    -- its lists are the longer ones
    if PASS and serve ~= submit then return PASS end

    if serve then
        return serve(req, args)
    end

    local id = path:match("^/languages/(%d+)$")
    local language = method == "GET" and languages[math.tointeger(tonumber(id))]

    if language then
        return answer(200, { id = language.id, name = language.name,
                             is_archived = false, source_file = null,
                             compile_cmd = null, run_cmd = null })
    end

    if method == "DELETE" and path:find("^/submissions/[^/]+$") then
        return empty(403)       -- nobody is authorized: nothing is stored
    end

    return NOT_FOUND
end


return {
    request = function(req)
        local args = query(req.args) or {}

        if config.token and not equal(config.token,
            req.headers["x-auth-token"] or args["X-Auth-Token"] or "")
        then
            return empty(401)
        end

        return route(req, args)
    end,

    response = respond,
}
