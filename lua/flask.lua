-- The small service that many write in Flask: POST {"code", "language"}, and
-- five keys in its answers, byte for byte.  What differs is in docs/facades.md.
--
--     location = /run {
--         sandbox any;
--         sandbox_policy lua/flask.lua;
--     }
--
--   {"status":"success","output":…}
--   {"status":"error","returncode":…,"stderr":…}
--   {"status":"memory_exceeded"|"oom_killed"|"timeout","error":…}

local ended_by_limit = {
    memory_exceeded = true, oom_killed = true, timeout = true,
}


-- The keys in the order given: a table would have one of its own.
local function object(...)
    local fields, members = table.pack(...), {}

    for i = 1, fields.n, 2 do
        members[#members + 1] = json(fields[i]) .. ":" .. json(fields[i + 1])
    end

    return { body = "{" .. table.concat(members, ",") .. "}" }
end


return {
    -- Python, if the body names no language; all else is the native contract.
    request = function(req)
        local kind = req.headers["content-type"] or ""
        local body = kind:find("^application/json") and json.decode(req.body)

        if type(body) == "table" and type(body.code) == "string"
            and next(body, next(body)) == nil
        then
            return { language = "python", code = body.code }
        end
    end,

    response = function(req, verdict)
        if verdict.cases or verdict.http ~= 200 then
            return nil              -- nothing ran: the native answer says why
        elseif verdict.status == "success" then
            return object("status", "success", "output", verdict.output)
        elseif ended_by_limit[verdict.status] then
            return object("status", verdict.status, "error",
                          verdict.reason == "hook" and "Malloc hook triggered"
                          or verdict.error or null)
        end

        return object("status", "error", "returncode", verdict.returncode,
                      "stderr", verdict.stderr)
    end,
}
