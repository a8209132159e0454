-- snekbox: POST /eval, for Python.  What differs is in docs/facades.md.
--
--     location = /eval {
--         sandbox python;
--         sandbox_policy lua/snekbox.lua;
--     }

local function answer(status, body, headers)
    return { status = status, body = body, headers = headers }
end


-- An error in Falcon's form.
local function refuse(status, title, description, headers)
    return answer(status, { title = title, description = description },
                  headers)
end


local function invalid(description)
    return refuse(400, "Request data failed validation", description)
end


local function bad_file(description)
    return refuse(400, "Request file is invalid", description)
end


-- What could not be run has no return code; its standard output says why.
local function not_run(why)
    return answer(200, { stdout = why, returncode = null,
                         files = json.list {} })
end


-- Decoded arrays, and no objects, have a metatable.
local function is_list(value)
    return type(value) == "table" and getmetatable(value) ~= nil
end


-- Why the body is none of snekbox's, in the words of its schema.
local function check(body)
    if type(body) ~= "table" or is_list(body) then
        return "data must be object"
    elseif body.input == nil and body.args == nil then
        return "data must contain 'input' or 'args'"
    elseif body.input ~= nil and type(body.input) ~= "string" then
        return "data.input must be string"
    elseif body.args ~= nil and not is_list(body.args) then
        return "data.args must be array"
    elseif body.files ~= nil and not is_list(body.files) then
        return "data.files must be array"
    end

    for i, arg in ipairs(body.args or {}) do
        if type(arg) ~= "string" then
            return ("data.args[%d] must be string"):format(i - 1)
        end
    end

    for i, file in ipairs(body.files or {}) do
        if type(file) ~= "table" or type(file.path) ~= "string" then
            return ("data.files[%d] must contain 'path'"):format(i - 1)
        elseif file.content ~= nil and type(file.content) ~= "string" then
            return ("data.files[%d].content must be string"):format(i - 1)
        end
    end
end


-- The files as a job's, or nil and why not.
local function read_files(list)
    local files = {}

    for i, file in ipairs(list or {}) do
        local content = base64.decode(file.content or "")

        if file.path:sub(1, 1) == "/" then
            return nil, ("File path '%s' must be relative"):format(file.path)
        elseif ("/" .. file.path .. "/"):find("/../", 1, true) then
            return nil, ("File path '%s' may not use '..'"):format(file.path)
        elseif not content then
            return nil, ("Invalid base64 encoding for file '%s'")
                :format(file.path)
        end

        files[i] = { path = file.path, content = content }
    end

    return files
end


-- Python's arguments: `input` is the last one, -c the first if there is none.
local function read_args(body)
    local args = {}

    for _, arg in ipairs(body.args or { "-c" }) do
        if arg ~= "" or #args > 0 then
            args[#args + 1] = arg
        end
    end

    args[#args + 1] = body.input

    return args
end


-- Options that change nothing in a run.
local harmless = { ["-B"] = true, ["-E"] = true, ["-I"] = true, ["-q"] = true,
                   ["-s"] = true, ["-u"] = true }


-- A module is run as `python -m` does.
local function run_module(name)
    if name:find("^[%a_][%w_.]*$") then
        return "import runpy\nrunpy.run_module('" .. name .. "', "
            .. "run_name='__main__', alter_sys=True)\n"
    end
end


-- What `python ARGS` would run: its code, its name, and how many of the
-- arguments are Python's own; nil: it cannot be run here.
local function find_program(args, files)
    local i = 1

    while harmless[args[i]] do
        i = i + 1
    end

    local first, second = args[i], args[i + 1]

    if first == nil then
        return "\n", nil, i
    elseif first == "-c" and second then
        return second, nil, i + 1
    elseif first == "-m" and second then
        return run_module(second), nil, i + 1
    end

    for n, file in ipairs(files) do
        if file.path == first and not first:find("/", 1, true) then
            table.remove(files, n)
            return file.content, first, i
        end
    end
end


local function make_job(body)
    local files, why = read_files(body.files)

    if not files then
        return bad_file(why)
    end

    local args = read_args(body)
    local code, name, own = find_program(args, files)

    if not code then
        return not_run("only -c CODE, -m MODULE and a file of the request can "
                       .. "be run here")
    end

    for _, arg in ipairs(args) do
        if arg:find("\0", 1, true) then
            return not_run("ValueError: embedded null byte")
        end
    end

    -- an empty program prints nothing, and a job is never empty
    return { code = code ~= "" and code or "\n", name = name, files = files,
             args = table.move(args, own + 1, #args, 1, {}) }
end


local ended = {
    timeout = 137, memory_exceeded = 137, oom_killed = 137,
    output_exceeded = 143,
}


return {
    request = function(req)
        local kind = req.headers["content-type"]

        if req.method ~= "POST" then
            return refuse(405, "405 Method Not Allowed", nil,
                          { Allow = "POST" })
        elseif kind and not kind:find("^application/json") then
            return refuse(415, "415 Unsupported Media Type",
                          kind .. " is an unsupported media type.")
        end

        local body, why = json.decode(req.body)

        if why then
            return refuse(400, "Invalid JSON",
                          "Could not parse JSON body - " .. why)
        end

        why = check(body)

        return why and invalid(why) or make_job(body)
    end,

    response = function(req, verdict)
        if verdict.status == "busy" then
            return refuse(503, "503 Service Unavailable", verdict.error,
                          { ["Retry-After"] = "1" })
        elseif verdict.status == "invalid" and verdict.http == 400 then
            return bad_file(verdict.error)
        elseif verdict.status == "internal_error" and verdict.http == 500 then
            return answer(200, { stdout = verdict.error, returncode = 255,
                                 files = json.list {} })
        elseif verdict.http ~= 200 then
            return refuse(verdict.http, tostring(verdict.http), verdict.error)
        elseif verdict.replaced.output or verdict.replaced.stderr then
            return not_run("UnicodeDecodeError: invalid Unicode in output "
                           .. "pipe")
        end

        return answer(200, {
            stdout = verdict.output .. verdict.stderr,
            returncode = ended[verdict.status] or verdict.exit_code
                or verdict.returncode,
            files = json.list {},
        })
    end,
}
