-- SandboxFusion: POST /run_code and GET /v1/ping.  What differs is in
-- docs/facades.md.
--
--     location = /run_code {
--         sandbox any;
--         sandbox_policy lua/fusion.lua;
--     }
--
-- Keys, all optional:
--   pod=NAME     executor_pod_name of the answers
--   pass=@name   where languages go that are not run here

local languages = { python = "python", nodejs = "node" }


local function answer(status, body, headers)
    return { status = status, body = body, headers = headers }
end


-- FastAPI's answer to a body that is none.
local function unprocessable(kind, message, ...)
    return answer(422, { detail = { { type = kind, msg = message,
                                      loc = { "body", ... } } } })
end


local function outcome(status, message, run)
    return answer(200, {
        status = status, message = message, compile_result = null,
        run_result = run or null, executor_pod_name = config.pod or null,
        files = {},
    })
end


-- Decoded arrays, and no objects, have a metatable.
local function is_list(value)
    return type(value) == "table" and getmetatable(value) ~= nil
end


local function check_string(value)
    if type(value) ~= "string" then
        return "string_type", "Input should be a valid string"
    end
end


-- Numbers may come as text, too.
local function check_number(value)
    if type(value) == "string" and not tonumber(value) then
        return "float_parsing", "Input should be a valid number, unable to "
            .. "parse string as a number"
    elseif type(value) ~= "number" and type(value) ~= "string" then
        return "float_type", "Input should be a valid number"
    end
end


local function check_integer(value)
    if type(value) == "string" and not math.tointeger(tonumber(value)) then
        return "int_parsing", "Input should be a valid integer, unable to "
            .. "parse string as an integer"
    elseif type(value) == "number" and not math.tointeger(value) then
        return "int_from_float", "Input should be a valid integer, got a "
            .. "number with a fractional part"
    elseif type(value) ~= "number" and type(value) ~= "string" then
        return "int_type", "Input should be a valid integer"
    end
end


local function check_list(value)
    if not is_list(value) then
        return "list_type", "Input should be a valid list"
    end

    for i, item in ipairs(value) do
        local kind, message = check_string(item)

        if kind then
            return kind, message, i - 1
        end
    end
end


-- Contents by path; null is a file that is not there.
local function check_files(value)
    if type(value) ~= "table" or is_list(value) then
        return "dict_type", "Input should be a valid dictionary"
    end

    for path, content in pairs(value) do
        if content ~= null and type(content) ~= "string" then
            return "string_type", "Input should be a valid string", path
        end
    end
end


local fields = {
    { name = "compile_timeout", check = check_number },
    { name = "run_timeout", check = check_number },
    { name = "memory_limit_MB", check = check_integer },
    { name = "code", check = check_string, required = true },
    { name = "stdin", check = check_string, nullable = true },
    { name = "language", check = check_string, required = true },
    { name = "files", check = check_files },
    { name = "fetch_files", check = check_list },
}


-- nil, or the answer that says what is wrong with the first wrong field.
local function check(body)
    for _, field in ipairs(fields) do
        local value = body[field.name]

        if value == nil and field.required then
            return unprocessable("missing", "Field required", field.name)
        elseif value ~= nil and not (value == null and field.nullable) then
            local kind, message, place = field.check(value)

            if kind then
                return unprocessable(kind, message, field.name, place)
            end
        end
    end
end


local function read_files(contents)
    local files = {}

    for path, content in pairs(contents or {}) do
        if content ~= null then
            content = base64.decode(content)

            if not content then
                return nil, path
            end

            files[#files + 1] = { path = path, content = content }
        end
    end

    -- in an order of their own, so that equal requests make equal jobs
    table.sort(files, function(a, b) return a.path < b.path end)

    return files
end


-- The limits that were asked for; what is above the ceilings is lowered to them,
-- and no memory limit is as much memory as may be had.
local function read_limits(body, ceilings)
    local memory = math.tointeger(tonumber(body.memory_limit_MB or -1))
    local seconds = tonumber(body.run_timeout or 10)

    return {
        timeout = math.max(seconds * 1000, 1),
        memory = memory > 0 and memory * 1048576.0 or ceilings.memory,
    }
end


local function make_job(req, body)
    local language = languages[body.language]
    local ceilings = language and req.ceilings[language]

    if not ceilings and config.pass then
        return { pass = config.pass }
    elseif not ceilings then
        return unprocessable("enum", "Input should be 'python' or 'nodejs'",
                             "language")
    elseif body.fetch_files and #body.fetch_files > 0 then
        return outcome("SandboxError", "fetch_files: files of a run are not "
                       .. "to be had here")
    end

    local files, bad = read_files(body.files)

    if not files then
        return outcome("SandboxError",
                       ("files: %s is not valid base64"):format(bad))
    end

    local stdin = body.stdin ~= null and body.stdin or ""

    return {
        language = language, stdin = stdin, files = files,
        code = body.code ~= "" and body.code or "\n",
        limits = read_limits(body, ceilings),
    }
end


local killed = {
    memory_exceeded = true, oom_killed = true, output_exceeded = true,
}


-- A run's end as subprocess tells it: negative numbers are signals.
local function return_code(verdict)
    if verdict.status == "timeout" then
        return null
    elseif killed[verdict.status] then
        return -9
    elseif verdict.signal then
        return 128 - verdict.returncode
    end

    return verdict.exit_code or -9
end


local function read_body(req)
    local kind = req.headers["content-type"]

    if kind and not kind:find("^application/json")
        and not kind:find("^application/[%w.-]+%+json")
    then
        return nil, unprocessable("model_attributes_type", "Input should be a "
            .. "valid dictionary or object to extract fields from")
    end

    local body, why = json.decode(req.body)

    if why then
        return nil, unprocessable("json_invalid", "JSON decode error: " .. why,
                                  tonumber(why:match("%d+$")))
    elseif type(body) ~= "table" or is_list(body) then
        return nil, unprocessable("model_attributes_type", "Input should be a "
            .. "valid dictionary or object to extract fields from")
    end

    return body
end


local function run_code(req)
    local body, refusal = read_body(req)

    return refusal or check(body) or make_job(req, body)
end


local routes = {
    ["/run_code"] = { method = "POST", handler = run_code },
    ["/v1/ping"] = { method = "GET", handler = function()
        return answer(200, json("pong"))
    end },
}


return {
    request = function(req)
        local route = routes[req.uri]

        if not route then
            return answer(404, { detail = "Not Found" })
        elseif req.method ~= route.method then
            return answer(405, { detail = "Method Not Allowed" },
                          { Allow = route.method })
        end

        return route.handler(req)
    end,

    response = function(req, verdict)
        if verdict.status == "busy" then
            return answer(503, { detail = verdict.error },
                          { ["Retry-After"] = "1" })
        elseif verdict.status == "invalid" and verdict.http == 400 then
            return outcome("SandboxError", verdict.error)
        elseif verdict.http ~= 200 then
            return answer(verdict.http, { detail = verdict.error,
                                          traceback = json.list {} })
        end

        local code = return_code(verdict)
        local run = {
            status = verdict.status == "timeout" and "TimeLimitExceeded"
                or "Finished",
            execution_time = verdict.usage.wall_ms / 1000,
            return_code = code, stdout = verdict.output,
            stderr = verdict.stderr,
            verdict = verdict.status, error = verdict.error or null,
        }

        return outcome(code == 0 and "Success" or "Failed", "", run)
    end,
}
