#!/usr/bin/python3
"""That children of one zygote draw different random values.

    repeats.py --url http://127.0.0.1:8080/run [--children N]

Each child draws several values of each kind, and no value may come twice.
Children of one zygote are recognised by their layout of memory, which they have
from it: a cold start has another.
"""

import argparse
import collections
import concurrent.futures
import http.client
import json
import os
import sys
import threading
import urllib.parse

PROGRAMS = {
    "python": """
import json, os, random, secrets, tempfile, uuid
draws = {
    "random.random": random.random,
    "random.getrandbits": lambda: random.getrandbits(64),
    "random.Random": lambda: random.Random().random(),
    "random.SystemRandom": random.SystemRandom().random,
    "uuid.uuid1": lambda: str(uuid.uuid1()),
    "uuid.uuid4": lambda: str(uuid.uuid4()),
    "secrets.token_hex": secrets.token_hex,
    "os.urandom": lambda: os.urandom(8).hex(),
    "tempfile": lambda: tempfile.mktemp(),
}
print(json.dumps({"zygote": id(object),
                  "drawn": {name: [draw() for _ in range(3)]
                            for name, draw in draws.items()}}))
""",
    "node": """
const crypto = require('crypto');
const vm = require('vm');
const draws = {
  'Math.random': Math.random,
  'Math.random of a context': () => vm.runInNewContext('Math.random()'),
  'crypto.randomBytes': () => crypto.randomBytes(8).toString('hex'),
  'crypto.randomUUID': () => crypto.randomUUID(),
  'crypto.randomUUID, no cache': () =>
    crypto.randomUUID({ disableEntropyCache: true }),
  'crypto.randomInt': () => crypto.randomInt(2 ** 47),
  'crypto.getRandomValues': () =>
    String(crypto.webcrypto.getRandomValues(new Uint32Array(2))),
  'crypto.generateKeySync': () => crypto.generateKeySync('hmac',
    { length: 64 }).export().toString('hex'),
  'fs.mkdtempSync': () => require('fs').mkdtempSync('/tmp/'),
};
const node = /^\\w+/.exec(require('fs').readFileSync('/proc/self/maps',
                                                    'latin1'))[0];
const drawn = {};
for (const [name, draw] of Object.entries(draws)) {
  drawn[name] = [draw(), draw(), draw()];
}
console.log(JSON.stringify({ zygote: node, drawn }));
""",
}


def run_all(url, language, n):
    """What n children drew; each thread keeps its connection."""
    place = urllib.parse.urlsplit(url)
    local = threading.local()
    body = json.dumps({"language": language, "code": PROGRAMS[language]})

    def run(_):
        if not hasattr(local, "http"):
            local.http = http.client.HTTPConnection(place.netloc, timeout=60)
        local.http.request("POST", place.path, body,
                           {"Content-Type": "application/json"})
        verdict = json.loads(local.http.getresponse().read())
        if verdict.get("status") != "success":
            sys.exit(f"repeats: {language}: {verdict}")
        return json.loads(verdict["output"])

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(run, range(n)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--url", required=True)
    parser.add_argument("--children", type=int, default=100)
    options = parser.parse_args()
    bad = 0

    for language in PROGRAMS:
        # the first ones may come from a zygote that is about to be replaced
        runs, zygotes = [], collections.Counter()
        while len(runs) < 3 * options.children and (
                not zygotes or max(zygotes.values()) < options.children):
            runs += run_all(options.url, language, options.children // 2)
            zygotes = collections.Counter(run["zygote"] for run in runs)

        largest = max(zygotes.values())
        drawn = collections.defaultdict(collections.Counter)
        for run in runs:
            for kind, values in run["drawn"].items():
                drawn[kind].update(values)
        twice = {kind: values.most_common(1)[0]
                 for kind, values in drawn.items()
                 if values.most_common(1)[0][1] > 1}

        ok = largest >= options.children and not twice
        bad += not ok
        print(f"{'ok' if ok else 'not ok'} - {language}: {len(runs)} children, "
              f"{largest} of one zygote, {len(drawn)} kinds of values, "
              f"{sum(map(len, drawn.values()))} values, "
              f"drawn more than once: {twice or 'none'}", flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
