# The tests.  Each suite is a target of its own; T= chooses within it:
#
#     make unit T=limit           make t T=t/policy.t
#     make lifecycle T=reload     make fidelity T=thread
#
# `make test` runs those of CI_ORDER (tests/suites says how) and ends with their
# sums; the full output of each is in build/test/SUITE.log.

T          ?=
tst        := $(bld)/tests

# Suites without a server of their own take the time that others leave; the
# emulated machine runs beside suites that wait for other things.
CI_ORDER    = unit+hook+fuzz~ zygote isolation checks t lifecycle preload http \
              fidelity verdicts-quick accuracy hostile qemu& calibrate page \
              clients docs
CI_SUITES   = $(subst &,,$(subst ~,,$(subst +, ,$(CI_ORDER))))
LONG_SUITES = nodes corpora lifecycle-user asan fuzz-long verdicts verdicts-long \
              soak

.PHONY: test test-long faulty-build $(CI_SUITES) $(LONG_SUITES) bench test-programs
test: deps-test
	+@$(MAKE) -j`nproc` --no-print-directory all test-programs
	+@BUILD=$(bld) MAKE='$(MAKE)' tests/suites $(CI_ORDER:%='%')

test-long: test
	+@BUILD=$(bld) MAKE='$(MAKE)' tests/suites $(LONG_SUITES)


# --- programs in C

tst_cc      = $(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) $(san) -MMD -MP

unit_progs := $(patsubst tests/unit/%.c,$(tst)/unit/%,\
                $(wildcard tests/unit/test_*.c))
lua_progs  := $(filter $(tst)/unit/test_lua%,$(unit_progs))
lua_objs   := $(patsubst lua/%.c,$(tst)/lua/%.o,$(wildcard lua/*.c))
LUA_INC    ?= /usr/include/lua5.4

$(tst)/lua/%.o: lua/%.c
	@mkdir -p $(@D)
	$(tst_cc) -I$(LUA_INC) -c -o $@ $<

$(lua_progs): $(tst)/unit/%: tests/unit/%.c $(lua_objs) $(bld)/libsbx.a
	@mkdir -p $(@D)
	$(tst_cc) -I$(LUA_INC) -o $@ $(filter-out %.h,$^) -l:liblua5.4.a -lm -ldl -lcmocka \
	    -ljson-c -lseccomp -lcrypto

$(filter-out $(lua_progs),$(unit_progs)): $(tst)/unit/%: tests/unit/%.c \
        $(bld)/libsbx.a
	@mkdir -p $(@D)
	$(tst_cc) -o $@ $(filter-out %.h,$^) -lcmocka -ljson-c -lseccomp

# Each step of a child can be told to fail in this one.
fault_objs := $(core_srcs:sandbox/%.c=$(tst)/faults/%.o)

$(tst)/faults/%.o: sandbox/%.c
	@mkdir -p $(@D)
	$(tst_cc) -DSBX_FAULTS -c -o $@ $<

# else make takes them for intermediate files and deletes them
.SECONDARY: $(fault_objs) $(lua_objs)

zygote_src := $(filter-out %/test_filter.c %/test_zygote.c,\
                $(wildcard tests/zygote/*.c))

$(tst)/zygote/test_%: tests/zygote/test_%.c $(zygote_src) $(fault_objs)
	@mkdir -p $(@D)
	$(tst_cc) -DSBX_FAULTS -o $@ $(filter-out %.h,$^) -lseccomp -ljson-c

$(tst)/isolation/test_slot: $(wildcard tests/isolation/*.c) $(bld)/libsbx.a
	@mkdir -p $(@D)
	$(tst_cc) -o $@ $(filter-out %.h,$^) -lseccomp -ljson-c

zygote_progs := $(tst)/zygote/test_filter $(tst)/zygote/test_zygote
slot_prog    := $(tst)/isolation/test_slot

test-programs: $(unit_progs) $(zygote_progs) $(slot_prog)

-include $(wildcard $(tst)/*/*.d)


# --- suites without nginx

unit: $(unit_progs)
	@[ -n "$(filter $(tst)/unit/test_$(T)%,$(unit_progs))" ] \
	    || { echo "no tests/unit/test_$(T)*.c" >&2; exit 1; }
	@for p in $(filter $(tst)/unit/test_$(T)%,$(unit_progs)); do \
	    $$p || failed="$$failed $$p"; \
	done; test -z "$$failed" || { echo "failed:$$failed"; exit 1; }

hook: $(bld)/libsbx_preload.so
	@CC=$(CC) $(PYTHON) -B tests/hook/run.py --hook $(bld)/libsbx_preload.so \
	    --work $(tst)/hook

zygote: $(zygote_progs)
	@$(tst)/zygote/test_filter && $(tst)/zygote/test_zygote

isolation: $(slot_prog)
	@sh tests/isolation/run.sh $(slot_prog)

# Everything that is part of a run, built once more so that each layer that a
# check looks at can be broken.
faulty     := $(tst)/faulty

faulty-build: all
	+@CPPFLAGS=-DSBX_FAULTS $(MAKE) --no-print-directory BUILD=$(faulty) \
	    SANITIZE= $(faulty)/deer-flow $(faulty)/libsbx_python.so \
	    $(faulty)/libsbx_preload.so $(faulty)/libsbx_node.so

checks: faulty-build
	@$(PYTHON) -B tests/checks/run.py --build $(bld) --faulty $(faulty) \
	    --nginx $(NGINX) $(T)

fuzzers    := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
fuzz_cc     = clang $(CPPFLAGS) -g -O1 -std=gnu11 -Wall -Wextra -Werror \
              -fno-sanitize-recover=undefined
fuzz_objs  := $(core_srcs:sandbox/%.c=$(tst)/fuzz/obj/%.o)
FUZZ_RUNS  ?= 20000
FUZZ_TIME  ?= 10

.SECONDARY: $(fuzz_objs)

$(tst)/fuzz/obj/%.o: sandbox/%.c
	@mkdir -p $(@D)
	$(fuzz_cc) -fsanitize=fuzzer-no-link,address,undefined -c -o $@ $<

$(tst)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(fuzz_objs)
	@mkdir -p $(@D)
	$(fuzz_cc) -fsanitize=fuzzer,address,undefined \
	    -o $@ $(filter-out %.h,$^) -ljson-c -lseccomp

# New inputs go into the build tree; the corpus is changed by people only.
fuzz: $(fuzzers:%=$(tst)/fuzz/%)
	@for f in $(filter fuzz_$(or $(T),%),$(fuzzers)); do \
	    mkdir -p $(tst)/fuzz/new/$$f; \
	    $(tst)/fuzz/$$f -runs=$(FUZZ_RUNS) -max_total_time=$(FUZZ_TIME) \
	        -print_final_stats=1 -verbosity=0 $(tst)/fuzz/new/$$f \
	        tests/fuzz/corpus/$${f#fuzz_} || exit 1; \
	    echo "ok - $$f"; \
	done

fuzz-long:
	+@$(MAKE) --no-print-directory fuzz FUZZ_RUNS=-1 FUZZ_TIME=300


# --- suites with nginx; ports of their own, all on the loopback

# The original runner where it is installed, else the one in t/lib.
prove       = TEST_NGINX_LOAD_MODULES=$(ngx_so) TEST_NGINX_BINARY=$(NGINX) \
              prove -r `perl -MTest::Nginx::Socket -e1 2> /dev/null \
                     || echo -It/lib`

t: all
	@$(prove) $(or $(T),t)

lifecycle: all
	@$(PYTHON) -B tests/lifecycle/run.py --module $(ngx_so) \
	    --command $(bld)/deer-flow --nginx $(NGINX) --root $(tst)/lifecycle \
	    $(TEST_NGINX_LD_PRELOAD:%=--preload %) $(T)

# As root: the same, with an nginx that a normal user starts.  In /tmp, where
# that user can look.
lifecycle-user: all
	@$(PYTHON) -B tests/lifecycle/run.py --module $(ngx_so) \
	    --command $(bld)/deer-flow --nginx $(NGINX) \
	    $(if $(root),--user 65534) $(T)

# Its modules are put where every python3 finds them, and removed again.
preload: all
	@$(PYTHON) -B tests/preload/run.py --build $(bld) --cc $(CC)

# In /tmp, where the workers of a root's nginx can keep large bodies.
http: all
	@$(PYTHON) -B tests/http/run.py --build $(bld) --nginx $(NGINX) $(T)

served      = PORT=19480 BUILD=$(bld) MAKE='$(MAKE)' tests/served

fidelity: all
	@$(served) sh -c '$(if $(T),,$(PYTHON) -B tests/fidelity/repeats.py \
	    --url http://127.0.0.1:19480/run &&) $(PYTHON) -B \
	    tests/fidelity/run.py --url http://127.0.0.1:19480/run $(T)'

# Test suites of others, in a zygote's child and from a cold start.  CPython's
# come from Debian, those for parsers from npm, once, into the build directory.
corpora: all
	@$(call install_packages,libpython3.11-testsuite \
	    $(if $(shell command -v npm),,npm))
	@$(PYTHON) -B tests/corpora/corpora.py --build $(bld) --nginx $(NGINX) $(T)

# The zygote of Node.js knows node from inside; here with other versions of it.
# (24 serves, too, but a Worker of it takes 512 MiB, more than programs have here.)
NODES      ?= 18 22

nodes: all
	@DIR=$(tst)/nodes tests/fidelity/nodes "$(NODES)" \
	    env $(served) $(PYTHON) -B tests/fidelity/run.py \
	    --url http://127.0.0.1:19480/run $(or $(T),node/)

hostile: all
	@$(served) $(PYTHON) -B tests/hostile/run.py \
	    --url http://127.0.0.1:19480/run $(T)

# Each labelled program once for each combination of layers.
verdicts    = $(PYTHON) -B tests/verdicts/run.py --build $(bld) \
              --nginx $(NGINX) --cc $(CC)

verdicts: faulty-build
	@$(verdicts) --faulty $(faulty) $(T)

# Six of the eight, and those for which layers that are off can make a difference.
verdicts-quick: faulty-build
	@$(verdicts) --faulty $(faulty) --quick $(T)

# N shuffled samples of them; SEED= repeats an order.
accuracy: all
	@$(verdicts) --accuracy $(or $(N),5000) $(SEED:%=--seed %) $(T)

# One for each rule of the verdict engine, 1,000 times; what the hook ends, where
# a signal, the page and the end of a process meet, 10,000 times.
verdicts-long: all
	@$(verdicts) --repeat 1000 $(T)
	@$(if $(T),,$(verdicts) --repeat 10000 memory_list_grows.py)

calibrate: all
	@$(PYTHON) -B tests/calibrate/run.py --build $(bld) $(T)

# Clients of others; npm's are fetched once, into the build directory.
clients: all
	@$(served) $(PYTHON) -B tests/clients/run.py \
	    --url http://127.0.0.1:19480 --work $(tst)/clients
	@$(PYTHON) -B tests/clients/judges.py --module $(ngx_so) \
	    --nginx $(NGINX) --work $(tst)/clients

page: all
	@$(served) $(PYTHON) -B tests/page/run.py \
	    --url http://127.0.0.1:19480/

docs: all
	@$(PYTHON) -B tests/docs/run.py --build $(bld) $(T)

qemu: all test-programs
	@tests/qemu/slot.sh $(slot_prog) $(abspath build/qemu)
	@tests/qemu/smoke.sh $(bld) $(abspath build/qemu)

# BENCH_JSON=FILE gets the figures as JSON, too.
bench: faulty-build
	@$(PYTHON) -B tests/bench/run.py --build $(bld) --faulty $(faulty) $(T)

# N mixed runs: what differs between the first tenth of them and the last.
soak: all
	@$(PYTHON) -B tests/soak/run.py --build $(bld) -n $(or $(N),100000) \
	    $(SEED:%=--seed %) $(T)

# Module and deer-flow with sanitizers; nginx itself is the distribution's, so
# it gets the run-time library in advance.
san_env     = ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 \
              UBSAN_OPTIONS=print_stacktrace=1 \
              TEST_NGINX_LD_PRELOAD=`gcc -print-file-name=libasan.so`

asan:
	+@$(san_env) $(MAKE) --no-print-directory BUILD=$(bld)/asan CC=gcc \
	    SANITIZE=address,undefined unit t lifecycle
