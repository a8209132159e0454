// Judge0's requests, as clients send them, by npm's superagent.
//
// node judge0.js http://HOST:PORT [TOKEN]; NODE_PATH names node_modules.
'use strict';

const assert = require('assert');
const request = require('superagent');

const [url, token] = process.argv.slice(2);

const encode = (text) => Buffer.from(text).toString('base64');
const decode = (text) => text && Buffer.from(text, 'base64').toString();

// An answer of any status is one: the tests look at it.
function send(made) {
    return made.set('X-Auth-Token', token || '').timeout(60000).ok(() => true);
}

function submit(query, body) {
    return send(request.post(url + '/submissions').query(query).send(body));
}

async function idOf(pattern) {
    const { body } = await send(request.get(url + '/languages'));
    return body.find((language) => pattern.test(language.name)).id;
}

async function hello(pattern, source) {
    const { status, body } = await submit(
        { base64_encoded: true, wait: true }, {
            language_id: await idOf(pattern),
            source_code: encode(source),
            stdin: encode('world \u{1f600}'),
            expected_output: encode('hello, world \u{1f600}'),
        });

    assert.strictEqual(status, 201);
    assert.deepStrictEqual(body.status, { id: 3, description: 'Accepted' });
    assert.strictEqual(decode(body.stdout), 'hello, world \u{1f600}\n');
    assert.strictEqual(typeof body.time, 'string');
    assert.ok(Number.isInteger(body.memory));
    assert.ok(body.token.length === 36);
    assert.strictEqual(body.stderr, null);
    assert.strictEqual(body.message, null);
}

const tests = {
    async about() {
        const { body } = await send(request.get(url + '/about'));
        assert.ok(/^\d+\.\d+/.test(body.version));
    },

    async statuses() {
        const { body } = await send(request.get(url + '/statuses'));
        assert.strictEqual(body.length, 14);
        assert.deepStrictEqual(body[5],
            { id: 6, description: 'Compilation Error' });
    },

    async config() {
        const { body } = await send(request.get(url + '/config_info'));
        assert.strictEqual(body.enable_wait_result, true);
        assert.ok(body.max_cpu_time_limit >= body.cpu_time_limit);
    },

    python() {
        return hello(/^Python/, 'print("hello, " + input())');
    },

    node() {
        return hello(/^JavaScript/, 'console.log("hello, " + '
            + 'require("fs").readFileSync(0, "utf8"));');
    },

    async wrongAnswer() {
        const { body } = await submit(
            { base64_encoded: false, wait: true, fields: 'status,stdout' }, {
                language_id: await idOf(/^Python/), source_code: 'print(1)',
                expected_output: '2',
            });
        assert.deepStrictEqual(body, {
            status: { id: 4, description: 'Wrong Answer' }, stdout: '1\n',
        });
    },

    async exitStatus() {
        const { body } = await submit(
            { wait: true, base64_encoded: false }, {
                language_id: await idOf(/^JavaScript/),
                source_code: 'process.exit(7)',
            });
        assert.strictEqual(body.status.id, 11);
        assert.strictEqual(body.message, 'Exited with error status 7');
    },

    async timeLimit() {
        const { body } = await submit(
            { wait: true, base64_encoded: false }, {
                language_id: await idOf(/^Python/),
                source_code: 'while True: pass', cpu_time_limit: 0.5,
                cpu_extra_time: 0,
            });
        assert.strictEqual(body.status.id, 5);
    },

    async unknownLanguage() {
        const { status, body } = await submit({ wait: true },
            { language_id: 9999, source_code: 'x' });
        assert.strictEqual(status, 422);
        assert.deepStrictEqual(body,
            { language_id: ["language with id 9999 doesn't exist"] });
    },

    async noWait() {
        const { status, body } = await submit({}, { source_code: 'x' });
        assert.strictEqual(status, 400);
        assert.ok(/wait=true/.test(body.error));
    },
};

(async () => {
    const names = Object.keys(tests);

    console.log(`1..${names.length}`);

    for (let i = 0; i < names.length; i++) {
        try {
            await tests[names[i]]();
            console.log(`ok ${i + 1} - ${names[i]}`);
        } catch (error) {
            process.exitCode = 1;
            console.log(`not ok ${i + 1} - ${names[i]}: ${error.message}`);
        }
    }
})();
