-- Memory by route, and a message that says what to do when it was too little.
--
-- The kernel's wall is base + code + factor * memory.  The supervisor measures
-- base and code; a policy chooses memory (what the run may add) and factor
-- (headroom).  All four terms are in the answer's limits.memory_terms.
--
-- A profile only lowers what was asked for, or the location's default: for /bi
-- write "sandbox_memory 256m" or more there.

local MIB = 1 << 20

local profiles = {
    ["/bi"]    = { memory = 256 * MIB, factor = 1.3, timeout = "30s",
                   hint = "Please load less data, or read it in parts." },
    ["/judge"] = { memory = 64 * MIB, factor = 1.25, timeout = "2s",
                   hint = "Look for a list that grows with every step." },
}

return {
    limits = function(job, runtime)
        local p = profiles[job.request.uri]
        return p and { memory = math.min(job.limits.memory, p.memory),
                       factor = p.factor, timeout = p.timeout }
    end,

    response = function(req, verdict)
        local p = profiles[req.uri]
        if p and not verdict.cases and verdict.status == "memory_exceeded" then
            verdict.error = ("Your program wanted more than %d MiB. %s")
                :format(verdict.limits.memory // MIB, p.hint)
            return { body = verdict }
        end
    end,
}
