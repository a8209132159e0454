-- Piston v2: /runtimes, /execute and /packages, and "/" where the location has
-- it.  What differs from Piston is in docs/facades.md.
--
--     location /api/v2/ {
--         sandbox any;
--         sandbox_policy lua/piston.lua python=3.11.2 node=20.20.2;
--     }
--
-- Keys, all optional:
--   NAME=VERSION   version of a language of this location, as /runtimes tells
--                  it; a sandbox_runtime is listed if it has one
--   prefix=/path   what stands before /execute; /api/v2 by default
--   text=on        takes text/plain, too, if it is JSON: clients that send no
--                  type of their own (npm's piston-client) do that
--   pass=@name     where languages go that are not run here

local PREFIX = config.prefix or "/api/v2"
local TYPE = "application/json; charset=utf-8"

local known = {
    node = { language = "javascript", version = "20.20.2", runtime = "node",
             aliases = json.list { "node-javascript", "node-js", "javascript",
                                   "js", "node", "nodejs" } },
    python = { language = "python", version = "3.11.2",
               aliases = json.list { "py", "py3", "python3" } },
}


local function reply(status, body, headers)
    headers = headers or {}
    headers["Content-Type"] = TYPE

    return { status = status, headers = headers, body = body }
end


local function refuse(status, message)
    return reply(status, { message = message })
end


-- What JavaScript takes for false.
local function is_empty(value)
    return value == nil or value == null or value == false or value == ""
        or value == 0
end


-- Decoded arrays, and no objects, have a metatable.
local function is_list(value)
    return type(value) == "table" and getmetatable(value) ~= nil
end


-- SemVer: "3.11", "3.x", "*" → the numbers that are given; nil: none of these.
local function parse_version(text)
    local numbers = {}

    text = text:gsub("^v", ""):gsub("[-+].*$", "")

    for part in (text .. "."):gmatch("([^.]*)%.") do
        if part == "*" or part == "x" or part == "X" or part == "" then
            break
        end

        if not part:find("^%d+$") or #numbers == 3 then
            return nil
        end

        numbers[#numbers + 1] = tonumber(part)
    end

    return numbers
end


-- Of the first n numbers: -1, 0, 1.
local function compare(version, wanted, n)
    for i = 1, math.min(n or 3, #wanted) do
        if version[i] ~= wanted[i] then
            return version[i] < wanted[i] and -1 or 1
        end
    end

    return 0
end


-- ^ lets everything change behind the first number that is not 0.
local function fixed(wanted)
    for i = 1, #wanted do
        if wanted[i] ~= 0 then
            return i
        end
    end

    return #wanted
end


local operators = {
    [""] = function(v, w) return compare(v, w) == 0 end,
    [">"] = function(v, w) return compare(v, w) > 0 end,
    ["<"] = function(v, w) return compare(v, w) < 0 end,
    [">="] = function(v, w) return compare(v, w) >= 0 end,
    ["<="] = function(v, w) return compare(v, w) <= 0 end,
    ["~"] = function(v, w)
        return compare(v, w) >= 0 and compare(v, w, 2) == 0
    end,
    ["^"] = function(v, w)
        return compare(v, w) >= 0 and compare(v, w, fixed(w)) == 0
    end,
}

operators["="] = operators[""]
operators["~>"] = operators["~"]


-- All of ">=3.8 <4".
local function satisfies_all(version, range)
    range = range:gsub("(%S+)%s+%-%s+(%S+)", ">=%1 <=%2")
    range = range:gsub("([<>=~^])%s+", "%1")

    for operator, text in range:gmatch("([<>=~^]*)(%S*)") do
        local test, wanted = operators[operator], parse_version(text)

        if not test or not wanted or not test(version, wanted) then
            return false
        end
    end

    return true
end


-- Any of "3.8 || 3.11".
local function satisfies(version, selector)
    for range in (selector:gsub("||", "\n") .. "\n"):gmatch("([^\n]*)\n") do
        if satisfies_all(version, range) then
            return true
        end
    end

    return false
end


-- By language, so that equal configurations give equal lists.
local function list_runtimes(req)
    local runtimes = json.list {}

    for name in pairs(req.ceilings) do
        local base = known[name] or { language = name,
                                       aliases = json.list {} }
        local version = config[name] or base.version

        if version then
            runtimes[#runtimes + 1] = {
                name = name, language = base.language, version = version,
                aliases = base.aliases, runtime = base.runtime,
            }
        end
    end

    table.sort(runtimes, function(a, b) return a.language < b.language end)

    return runtimes
end


local function find_runtime(req, language, selector)
    for _, runtime in ipairs(list_runtimes(req)) do
        local matches = runtime.language == language

        for _, alias in ipairs(runtime.aliases) do
            matches = matches or alias == language
        end

        if matches and satisfies(parse_version(runtime.version), selector) then
            return runtime
        end
    end
end


local function get_runtimes(req)
    local runtimes = list_runtimes(req)

    for _, runtime in ipairs(runtimes) do
        runtime.name = nil
    end

    return reply(200, runtimes)
end


local function get_packages(req)
    local packages = json.list {}

    for i, runtime in ipairs(list_runtimes(req)) do
        packages[i] = { language = runtime.language, installed = true,
                        language_version = runtime.version }
    end

    return reply(200, packages)
end


local function change_packages()
    return reply(405, { message = "packages are read-only here" },
                 { Allow = "GET, HEAD" })
end


-- The path below the run's directory; nil: it leads out of it.
local function inside(path)
    local parts = {}

    for part in path:gmatch("[^/]+") do
        if part == ".." then
            if #parts == 0 then
                return nil
            end

            parts[#parts] = nil
        elseif part ~= "." then
            parts[#parts + 1] = part
        end
    end

    return #parts > 0 and table.concat(parts, "/") or nil
end


local decoders = { base64 = base64.decode, hex = hex.decode }


-- The files by path, the later one where two have the same, and the main one:
-- the first that is text.  nil and an answer if they are no files.
local function read_files(list)
    local files, places, main = {}, {}, nil

    for i, file in ipairs(list) do
        local name = is_empty(file.name) and ("file%d.code"):format(i - 1)
            or tostring(file.name)
        local path, decode = inside(name), decoders[file.encoding]
        local content = file.content

        if not path then
            return nil, reply(500, "")
        end

        if decode then
            content = decode(content)

            if not content then
                return nil, refuse(400, ("files[%d].content is no %s")
                                   :format(i - 1, file.encoding))
            end
        end

        places[path] = places[path] or #files + 1
        files[places[path]] = { path = path, content = content }
        main = main or not decode and path
    end

    return files, main and places[main]
end


-- Python and JavaScript have no compile stage: its limits are checked for their
-- form only.
local wishes = {
    { "compile_memory_limit" }, { "run_memory_limit", "memory" },
    { "compile_timeout" }, { "run_timeout", "timeout" },
    { "compile_cpu_time" }, { "run_cpu_time", "cpu_time" },
}


-- -1, and no other negative number, stands for as much memory as may be had.
local function read_limits(body, ceilings)
    local limits = {}

    for _, wish in ipairs(wishes) do
        local name, limit = wish[1], wish[2]
        local value, ceiling = body[name], limit and ceilings[limit]
        local is_none = value == -1 and name:find("memory", 1, true)

        if is_empty(value) or is_none and not limit then
            value = nil
        elseif type(value) ~= "number" then
            return nil, ("If specified, %s must be a number"):format(name)
        elseif is_none then
            value = ceiling
        elseif ceiling and value > ceiling then
            return nil, ("%s cannot exceed the configured limit of %d")
                :format(name, ceiling)
        elseif value < 0 then
            return nil, ("%s must be greater than or equal to 0"):format(name)
        end

        if limit then
            limits[limit] = value
        end
    end

    return limits
end


local function read_args(list)
    local args = {}

    if is_empty(list) then
        return args
    end

    if not is_list(list) then
        return nil
    end

    for i, arg in ipairs(list) do
        if type(arg) ~= "string" and type(arg) ~= "number" then
            return nil
        end

        args[i] = tostring(arg)
    end

    return args
end


-- A newline ends it, whether there was one or not.
local function read_stdin(text)
    if is_empty(text) then
        return "\n"
    end

    if type(text) ~= "string" then
        return nil
    end

    return text:sub(-1) == "\n" and text or text .. "\n"
end


-- Why the body makes no job, in Piston's words.
local function check(body)
    if is_empty(body.language) or type(body.language) ~= "string" then
        return "language is required as a string"
    end

    if is_empty(body.version) or type(body.version) ~= "string" then
        return "version is required as a string"
    end

    if not is_list(body.files) then
        return "files is required as an array"
    end

    for i, file in ipairs(body.files) do
        if type(file) ~= "table" or type(file.content) ~= "string" then
            return ("files[%d].content is required as a string"):format(i - 1)
        end
    end
end


local function make_job(req, body, runtime)
    local limits, why = read_limits(body, req.ceilings[runtime.name])
    local args, stdin = read_args(body.args), read_stdin(body.stdin)

    if not limits then
        return refuse(400, why)
    elseif not args then
        return refuse(400, "args must be an array of strings")
    elseif not stdin then
        return refuse(400, "stdin must be a string")
    end

    local files, main = read_files(body.files)

    if not files then
        return main
    elseif not main then
        return refuse(400, "files must include at least one utf8 encoded file")
    end

    main = table.remove(files, main)

    return {
        language = runtime.name, name = main.path:match("[^/]+$"),
        code = main.content ~= "" and main.content or "\n", files = files,
        args = args, stdin = stdin, limits = limits,
        keep = { language = runtime.language, version = runtime.version },
    }
end


local function post_execute(req, body)
    local why = check(body)

    if why then
        return refuse(400, why)
    end

    local runtime = find_runtime(req, body.language, body.version)

    if runtime then
        return make_job(req, body, runtime)
    elseif config.pass then
        return { pass = config.pass }
    end

    return refuse(400, ("%s-%s runtime is unknown")
                  :format(body.language, body.version))
end


-- The body as a table, or nil and an answer.
local function read_body(req)
    local type_ = req.headers["content-type"] or ""
    local is_json = type_:find("^application/json") ~= nil
    local is_text = config.text == "on" and type_:find("^text/plain") ~= nil
    local body, why

    if is_json or is_text then
        body, why = json.decode(req.body)

        if type(body) == "table" then
            return body
        end
    end

    if is_json then
        return nil, refuse(400, "the body is not valid JSON"
                           .. (why and ": " .. why or ""))
    end

    return nil, refuse(415, "requests must be of type application/json")
end


local routes = {
    ["GET /runtimes"] = get_runtimes,
    ["GET /packages"] = get_packages,
    ["POST /packages"] = change_packages,
    ["DELETE /packages"] = change_packages,
    ["POST /execute"] = post_execute,
}


-- response(): how a run of Piston's ends.
local function stage(verdict)
    local usage = verdict.usage
    local run = {
        stdout = verdict.output, stderr = verdict.stderr,
        output = verdict.output .. verdict.stderr,
        code = null, signal = null, message = null, status = null,
        cpu_time = math.floor(usage.cpu_ms + 0.5),
        wall_time = math.floor(usage.wall_ms + 0.5),
        memory = usage.memory_bytes or null,
    }

    if verdict.status == "timeout" then
        run.status, run.signal = "TO", "SIGKILL"
        run.message = verdict.reason == "wall"
            and "Time limit exceeded (wall clock)" or "Time limit exceeded"
    elseif verdict.status == "output_exceeded" then
        run.status = verdict.reason == "stderr" and "EL" or "OL"
        run.signal = "SIGKILL"
        run.message = verdict.reason .. " length exceeded"
    elseif verdict.status == "memory_exceeded"
        or verdict.status == "oom_killed"
    then
        run.status, run.signal, run.message = "SG", "SIGKILL", verdict.error
    elseif verdict.signal then
        run.status, run.signal = "SG", verdict.signal
        run.message = ("Caught fatal signal %d")
            :format(verdict.returncode - 128)
    elseif verdict.exit_code ~= 0 then
        run.status, run.code = "RE", verdict.exit_code or null
        run.message = verdict.exit_code
            and ("Exited with error status %d"):format(verdict.exit_code)
            or verdict.error
    else
        run.code = 0
    end

    return run
end


return {
    request = function(req)
        local method = req.method == "HEAD" and "GET" or req.method
        local path = req.uri

        if path == "/" and method == "GET" then
            return refuse(200, "Piston v3.1.1")
        end

        if path:sub(1, #PREFIX) ~= PREFIX then
            return refuse(404, "Not Found")
        end

        local body, answer
        path = path:sub(#PREFIX + 1)

        if method ~= "GET" then
            body, answer = read_body(req)

            if answer then
                return answer
            end
        end

        local route = routes[method .. " " .. path]

        return route and route(req, body) or refuse(404, "Not Found")
    end,

    response = function(req, verdict)
        if verdict.http == 200 then
            return reply(200, { run = stage(verdict),
                                language = req.keep.language,
                                version = req.keep.version })
        elseif verdict.status == "busy" then
            return reply(503, { message = verdict.error },
                         { ["Retry-After"] = "1" })
        elseif verdict.status == "invalid" then
            return refuse(verdict.http, verdict.error)
        end

        -- what failed on our side: an empty answer, as Piston's own
        return reply(500, "")
    end,
}
