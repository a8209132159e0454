-- The small answer: five statuses, each with the keys a simple client needs.
--
--   {"status":"success","output":…}
--   {"status":"error","stderr":…,"returncode":…}
--   {"status":"memory_exceeded"|"oom_killed"|"timeout","error":…}

local ended_by_limit = {
    memory_exceeded = true, oom_killed = true, timeout = true,
}

return {
    response = function(req, verdict)
        if verdict.http ~= 200 then
            return nil              -- nothing ran: the native answer says why
        end

        local body = { status = verdict.status }

        if verdict.status == "success" then
            body.output = verdict.output
        elseif ended_by_limit[verdict.status] then
            body.error = verdict.reason == "hook" and "Malloc hook triggered"
                or verdict.error or null
        else
            body.status = "error"
            body.returncode = verdict.returncode
            body.stderr = verdict.stderr
        end

        return { body = body }
    end,
}
