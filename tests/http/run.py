#!/usr/bin/python3
"""What clients see of a busy nginx: load, full queues, slow and lost clients.

    run.py --build DIR [--nginx NGINX] [--port N] [--requests N] [--root DIR]
           [CASE...]

Prints TAP; exit code 1 if a case fails.  Each case has an nginx of its own,
started from DIR's module and command, and ends it by number.
"""

import argparse
import os
import shutil
import sys
import tempfile
import traceback

import batches      # these add their cases
import exits
import standby
from cases import CASES
from nginx import Failure, Site


def options():
    p = argparse.ArgumentParser()
    p.add_argument('--build', required=True)
    p.add_argument('--nginx', default=shutil.which('nginx')
                   or '/usr/sbin/nginx')
    p.add_argument('--port', type=int, default=19490)
    p.add_argument('--requests', type=int, default=1000)
    p.add_argument('--root')
    p.add_argument('--keep', action='store_true', help='keep the prefixes')
    p.add_argument('case', nargs='*')
    args = p.parse_args()
    args.build = os.path.abspath(args.build)
    unknown = set(args.case) - set(CASES)
    if unknown:
        p.error('no such case: %s; there are: %s' % (
            ' '.join(unknown), ' '.join(CASES)))
    return args


def attempt(args, name):
    """Lines that say why it failed, or none; and what it has to tell."""
    site = Site(args, name)
    try:
        try:
            told = CASES[name](site)
        finally:
            site.stop()
        return [], told
    except Failure as e:
        return [str(e)] + site.log().splitlines()[-25:], None
    except Exception:
        return (traceback.format_exc().splitlines()
                + site.log().splitlines()[-25:]), None
    finally:
        site.clean()


def main():
    args = options()
    names = args.case or list(CASES)
    own_root = args.root is None
    args.root = args.root or tempfile.mkdtemp(prefix='http.')
    os.makedirs(args.root, exist_ok=True)
    os.chmod(args.root, 0o755)
    failed = []

    print('1..%d' % len(names))
    for n, name in enumerate(names, 1):
        why, told = attempt(args, name)
        text = (CASES[name].__doc__ or '').split('\n')[0]
        print('%s %d - %s: %s%s' % ('not ok' if why else 'ok', n, name, text,
                                    ' [%s]' % told if told else ''),
              flush=True)
        if why:
            failed.append(name)
            print('\n'.join('# ' + line for line in why), flush=True)

    if own_root and not args.keep:
        shutil.rmtree(args.root, ignore_errors=True)
    print('# http: %d cases, %d failed%s' % (
        len(names), len(failed), ': ' + ' '.join(failed) if failed else ''))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
