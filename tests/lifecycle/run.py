#!/usr/bin/python3
"""Every turn in the life of nginx and of its supervisor, with runs in flight.

    run.py --module SO --command DEER_FLOW [--nginx NGINX] [--port N]
           [--user UID] [--root DIR] [--preload LIBRARY] [SCENARIO...]

--user: as root, start nginx as that user.  Prints TAP; exit code 1 if a
scenario fails.  A scenario ends with all of nginx, supervisors and runs gone.
"""

import argparse
import os
import shutil
import sys
import tempfile
import traceback

import heartbeats   # adds its scenarios
from box import Box, Failure
from scenarios import SCENARIOS


def options():
    p = argparse.ArgumentParser()
    p.add_argument('--module', required=True)
    p.add_argument('--command', required=True)
    p.add_argument('--nginx', default=shutil.which('nginx')
                   or '/usr/sbin/nginx')
    p.add_argument('--port', type=int, default=19470)
    p.add_argument('--user', type=int)
    p.add_argument('--preload', help='library for nginx (sanitizers)')
    p.add_argument('--root')
    p.add_argument('--keep', action='store_true', help='keep failed prefixes')
    p.add_argument('scenario', nargs='*')
    args = p.parse_args()
    args.module = os.path.abspath(args.module)
    args.command = os.path.abspath(args.command)
    unknown = set(args.scenario) - set(SCENARIOS)
    if unknown:
        p.error('no such scenario: %s; there are: %s' % (
            ' '.join(unknown), ' '.join(SCENARIOS)))
    return args


def attempt(args, name):
    """None, or why it failed, with the end of nginx's log."""
    box = Box(args, name)
    try:
        SCENARIOS[name](box)
        box.all_gone()
        return None
    except Failure as e:
        return [str(e)] + box.log().splitlines()[-25:]
    except Exception:
        return (traceback.format_exc().splitlines()
                + box.log().splitlines()[-25:])
    finally:
        box.clean()


def main():
    args = options()
    names = args.scenario or list(SCENARIOS)
    own_root = args.root is None
    args.root = args.root or tempfile.mkdtemp(prefix='lifecycle.')
    os.makedirs(args.root, exist_ok=True)
    failed = []

    print('1..%d' % len(names))
    for n, name in enumerate(names, 1):
        why = attempt(args, name)
        text = (SCENARIOS[name].__doc__ or '').split('\n')[0]
        print('%s %d - %s: %s' % ('not ok' if why else 'ok', n, name, text),
              flush=True)
        if why:
            failed.append(name)
            print('\n'.join('# ' + line for line in why), flush=True)

    if own_root and not args.keep:
        shutil.rmtree(args.root, ignore_errors=True)
    print('# lifecycle: %d scenarios, %d failed%s' % (
        len(names), len(failed), ': ' + ' '.join(failed) if failed else ''))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
