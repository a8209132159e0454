"""The figures that the project holds itself to, from one run's results."""

import measure

HELLO = 'hello, HTTP keep-alive, one at a time, median to cold `%s file`'


def ratio_of(results, case, language, key='ratio',
             variant='sandbox, standby child'):
    for name in ('hello', 'imports', 'streams', 'steady'):
        for row in results.get(name) or ():
            if (row['case'], row['language'], row['variant']) == (
                    case, language, variant):
                return row.get(key)
    return None


def inner(results, name, *keys):
    found = results.get(name)
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found




# figure, must, goal, whether more is better, what was measured
def rows(results):
    r = results
    yield (HELLO % 'python3' + ', Python', 1 / 15, 1 / 40, False,
           ratio_of(r, 'hello', 'python'))
    yield (HELLO % 'node' + ', Node', 1 / 14, 1 / 40, False,
           ratio_of(r, 'hello', 'node'))
    yield ('fifteen imports, Python, same', 1 / 30, 1 / 80, False,
           ratio_of(r, 'fifteen imports', 'python'))
    for language in ('python', 'node'):
        yield ('p99 at half capacity to p50, %s' % language, 10, 5, False,
               inner(r, 'half_capacity', language, 'ratio'))
    for language, must, goal in (('python', 5, 10), ('node', 5, 15)):
        yield ('sustained rate, pool drained, 8 at a time, to cold starts, %s'
               % language, must, goal, True,
               inner(r, 'sustained', language, 'ratio'))
    for language in ('python', 'node'):
        yield ('isolation tax on the sustained cycle, %s' % language, 1.5, 1.2,
               False, inner(r, 'isolation', language, 'ratio'))
    for language, must in (('python', 1.5), ('node', 2.0)):
        yield ('idle standby child, ten alive, MiB, %s' % language, must, 1.0,
               False, inner(r, 'idle', language, 'together_mib'))
    for case in ('CPU-bound', 'allocating'):
        for language in ('python', 'node'):
            yield ('steady state to plain, %s, %s' % (case, language), 1.05,
                   1.02, False, ratio_of(r, case, language, 'own_ratio'))


def text(figure, value):
    if value is None:
        return 'not measured'
    if 'hello' in figure or 'imports' in figure:
        return measure.as_ratio(value) if value < 0.9 else '%.2f' % value
    return '%.2f' % value


def collect(results):
    found = []
    for figure, must, goal, more, value in rows(results):
        if value is None:
            met = '-'
        else:
            met = [limit for limit, bound in (('goal', goal), ('must', must))
                   if (value >= bound if more else value <= bound)]
            met = met[0] if met else 'no'
        found.append({'figure': figure, 'must': must, 'goal': goal,
                      'measured': value, 'met': met, 'more_is_better': more})
    return found


def print_rows(found):
    lines = []
    for r in found:
        sign = '≥ ' if r['more_is_better'] else '≤ '
        bounds = ['%s%s' % (sign, '1/%.0f' % (1 / b) if b < 0.9 else '%g' % b)
                  for b in (r['must'], r['goal'])]
        lines.append((r['figure'], *bounds, text(r['figure'], r['measured']),
                      r['met']))
    return measure.table(('figure', 'must', 'goal', 'measured', 'met'), lines)
