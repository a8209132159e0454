# make            everything under build/
# make run        installs what is missing, builds, serves examples/nginx.conf
# make test       installs what tests need, runs the CI tier
# make help       the rest

BUILD     ?= build
ifeq ($(origin CC),default)
CC        := gcc
endif
CFLAGS    ?= -O2 -g
WARN       = -std=gnu11 -Wall -Wextra -Werror
CPPFLAGS  += -D_GNU_SOURCE -Isandbox
PREFIX    ?= /usr

bld := $(abspath $(BUILD))

# make takes spaces and colons for its own, and nginx's configure takes ".S"
# for the suffix of an assembler's file, in whatever part of a path it stands
ifneq ($(words $(CURDIR))-$(words $(BUILD))$(findstring :,$(CURDIR)$(bld)),1-1)
$(error $(CURDIR), BUILD=$(BUILD): paths must have neither spaces nor colons)
endif
ifneq ($(findstring .S,$(bld)),)
$(error $(bld): nginx's configure cannot build where ".S" is in the path: \
    choose another place, or set BUILD)
endif

# what only one program links
core_only   := $(wildcard sandbox/sbx_preload*.c sandbox/sbx_python*.c \
                          sandbox/sbx_node*.c) \
               sandbox/sbx_main.c
core_srcs   := $(filter-out $(core_only),$(wildcard sandbox/*.c))
core_objs   := $(core_srcs:sandbox/%.c=$(bld)/obj/%.o)

.PHONY: all
all: $(bld)/deer-flow $(bld)/libsbx_preload.so $(bld)/libsbx_python.so \
     $(bld)/libsbx_node.so module

# SANITIZE=address,undefined builds module and deer-flow with sanitizers.  The
# preload hook replaces malloc, as sanitizers do, so neither it nor the zygotes
# have them: what these link is compiled a second time.
san         := $(SANITIZE:%=-fsanitize=% -fno-sanitize-recover=all \
                            -fno-omit-frame-pointer)
plain       := $(bld)/$(if $(SANITIZE),plain,obj)

$(bld)/obj/%.o: sandbox/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) $(san) -fPIC -MMD -MP -c -o $@ $<

ifneq ($(SANITIZE),)
$(plain)/%.o: sandbox/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -fPIC -MMD -MP -c -o $@ $<

$(plain)/deer-flow: $(plain)/sbx_main.o $(bld)/libsbx_plain.a
	$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-z,relro,-z,now -o $@ $^ -lseccomp -ljson-c

$(bld)/obj/sbx_conf.o: CPPFLAGS += \
    -DSBX_ZYGOTE_PROGRAM='"$(plain)/deer-flow"'

all: $(plain)/deer-flow
endif

-include $(wildcard $(bld)/obj/*.d $(bld)/plain/*.d)

$(bld)/libsbx.a: $(core_objs)
	@rm -f $@
	ar rcs $@ $^

$(bld)/deer-flow: $(bld)/obj/sbx_main.o $(bld)/libsbx.a
	$(CC) $(CFLAGS) $(LDFLAGS) $(san) -Wl,-z,relro,-z,now -o $@ $^ \
	    -lseccomp -ljson-c

# --- what runs inside a run: the malloc hook and the Python zygote

preload_objs := $(patsubst sandbox/%.c,$(plain)/%.o,\
                  $(wildcard sandbox/sbx_preload*.c))
python_objs  := $(patsubst sandbox/%.c,$(plain)/%.o,\
                  $(wildcard sandbox/sbx_python*.c))

# The distribution's interpreter, whatever else PATH offers; asked when needed,
# because `make run` may install it first.
PYTHON       ?= /usr/bin/python3
python_var    = $(shell $(PYTHON) -c \
    'import sysconfig as s; print(s.get_config_var("$(1)") or "")')

$(preload_objs): CFLAGS += -fvisibility=hidden

$(bld)/libsbx_preload.so: $(preload_objs) sandbox/sbx_preload.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,relro,-z,now,-z,defs \
	    -Wl,--version-script=sandbox/sbx_preload.map -o $@ $(preload_objs)

$(python_objs): CPPFLAGS += -isystem $(call python_var,INCLUDEPY) \
    -isystem $(call python_var,INCLUDEPY)/internal

$(bld)/libsbx_plain.a: $(core_srcs:sandbox/%.c=$(plain)/%.o)
	@rm -f $@
	ar rcs $@ $^

# Preloaded into the distribution's own interpreter, whose symbols it finds when
# it is loaded.
$(bld)/libsbx_python.so: $(python_objs) $(bld)/libsbx_plain.a \
                         sandbox/sbx_python.map
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,relro,-z,now \
	    -Wl,--version-script=sandbox/sbx_python.map -o $@ $(python_objs) \
	    $(bld)/libsbx_plain.a -Wl,--as-needed -lseccomp -ljson-c

# Preloaded into node, whose calls it finds when it is loaded; and what that node
# then reads, beside it.
node_objs    := $(patsubst sandbox/%.c,$(plain)/%.o,\
                  $(wildcard sandbox/sbx_node*.c))
node_js      := $(patsubst sandbox/%,%,$(wildcard sandbox/node/*.js \
                  sandbox/node/warm/* sandbox/node/rehearsal/*))

$(bld)/libsbx_node.so: $(node_objs) $(bld)/libsbx_plain.a \
                       sandbox/sbx_node.map $(node_js:%=$(bld)/%)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,relro,-z,now \
	    -Wl,--version-script=sandbox/sbx_node.map -o $@ $(node_objs) \
	    $(bld)/libsbx_plain.a -Wl,--as-needed -lseccomp -ljson-c

$(bld)/node/%: sandbox/node/%
	@mkdir -p $(@D)
	cp $< $@

# --- nginx module: against the distribution's nginx-dev, or NGINX_SRC=DIR (a
# source tree of nginx); nginx's configure and make work in $(BUILD)/nginx

NGINX_SRC   ?= /usr/share/nginx/src
NGINX_FLAGS ?= --with-compat

ngx_bld  := $(bld)/nginx
ngx_so   := $(bld)/ngx_http_sandbox_module.so
ngx_srcs := config $(wildcard module/* lua/*.[ch] sandbox/*.[ch])
ngx_conf  = $(firstword $(wildcard $(NGINX_SRC)/configure \
                                   $(NGINX_SRC)/auto/configure))
ngx_cc    = $(CFLAGS) -fPIC -Wextra -Wno-unused-parameter \
            -Wno-sign-compare -Wno-missing-field-initializers \
            $(san)
ngx_ld    = -Wl,-z,relro -Wl,-z,now $(SANITIZE:%=-fsanitize=%)

.PHONY: module
module: $(ngx_so)

# a file that came or went changes the list that configure makes
$(ngx_bld)/sources: FORCE
	@mkdir -p $(@D)
	@echo '$(ngx_srcs) $(CC) $(ngx_cc) $(NGINX_SRC)' | cmp -s - $@ \
	    || echo '$(ngx_srcs) $(CC) $(ngx_cc) $(NGINX_SRC)' > $@

.PHONY: FORCE
FORCE:

$(ngx_bld)/Makefile: config $(ngx_bld)/sources
	@test -n "$(ngx_conf)" || { echo "$(NGINX_SRC): no nginx sources:" \
	    "install nginx-dev or set NGINX_SRC" >&2; exit 1; }
	cd $(NGINX_SRC) && bash -c 'unset CFLAGS CPPFLAGS LDFLAGS; \
	    NGX_CONF_FLAGS=( $(NGINX_FLAGS) ); \
	    test ! -f ./conf_flags || . ./conf_flags; \
	    $(ngx_conf) "$${NGX_CONF_FLAGS[@]}" --with-cc="$(CC)" \
	        --with-cc-opt="$(ngx_cc)" --with-ld-opt="$(ngx_ld)" \
	        --builddir=$(ngx_bld) --add-dynamic-module=$(CURDIR)' \
	    > $(ngx_bld)/configure.log 2>&1 \
	    || { tail -8 $(ngx_bld)/configure.log >&2; rm -f $@; exit 1; }

# A `make CFLAGS=…` reaches nginx by --with-cc-opt; let through as a variable
# too, it would replace nginx's own flags, in its configure and in its Makefile.
$(ngx_so): MAKEOVERRIDES =
$(ngx_so): $(ngx_bld)/Makefile $(ngx_srcs)
	+$(MAKE) --no-print-directory -C $(NGINX_SRC) -f $(ngx_bld)/Makefile modules
	@cp $(ngx_bld)/$(@F) $@.new && mv $@.new $@
# --- end of the nginx module

# --- running it

PORT      ?= 8080
NGINX     ?= $(or $(shell command -v nginx),/usr/sbin/nginx)
root      := $(filter 0,$(shell id -u))

# Workers of a root's nginx are www-data, who cannot look into most people's
# (and no root's) home: what they need is kept in /run.
run_dir    = $(if $(root),/run/deer-flow.$(PORT),$(bld)/run/nginx)

.PHONY: run
run: deps
	+@$(MAKE) -j`nproc` --no-print-directory all
	@mkdir -p $(bld)/run/lua $(run_dir)/logs $(run_dir)/temp $(run_dir)/html
	@chmod 755 $(run_dir) $(run_dir)/html
	@cp -f examples/*.html $(run_dir)/html/
	@cp -f lua/*.lua $(bld)/run/lua/
	@sed -e 's|^load_module .*|load_module $(ngx_so);|' \
	     -e 's|listen 127.0.0.1:8080;|listen 127.0.0.1:$(PORT);|' \
	     $(if $(root),,-e '/^user /d') \
	     examples/nginx.conf > $(bld)/run/$(PORT).conf
	@echo "deer-flow: http://127.0.0.1:$(PORT)/ until Ctrl-C;" \
	      "configuration: $(bld)/run/$(PORT).conf, from examples/nginx.conf;" \
	      "errors here, other logs in $(run_dir)/logs"
	@exec $(NGINX) -p $(run_dir)/ -c $(bld)/run/$(PORT).conf -g 'daemon off;'


# --- packages (Debian's names)

build_pkgs = gcc binutils libc6-dev nginx nginx-dev liblua5.4-dev \
             libjson-c-dev libseccomp-dev libssl-dev python3 libpython3-dev \
             nodejs
test_pkgs  = $(build_pkgs) perl libtest-base-perl libcmocka-dev clang \
             libclang-rt-14-dev curl apache2-utils bubblewrap chromium \
             chromium-driver libnginx-mod-http-lua libnginx-mod-http-js \
             qemu-system-x86 busybox-static cpio man-db wrk \
             python3-requests python3-numpy $(if $(shell command -v npm),,npm)

# A server that apt starts on port 80 is not what was asked for: policy-rc.d
# says no to it while the packages are set up.
define install_packages
@command -v dpkg-query > /dev/null || exit 0; \
missing=; \
for p in $(1); do \
    dpkg-query -W -f '$${Status}' $$p 2> /dev/null \
        | grep -q 'ok installed$$' || missing="$$missing $$p"; \
done; \
test -n "$$missing" || exit 0; \
if test `id -u` != 0; then \
    echo "missing packages; as root:" >&2; \
    echo "    apt-get install --no-install-recommends$$missing" >&2; \
    exit 1; \
fi; \
rc=/usr/sbin/policy-rc.d; \
if ! test -e $$rc; then \
    trap "rm -f $$rc" EXIT; \
    trap 'exit 1' INT TERM; \
    printf '#!/bin/sh\nexit 101\n' > $$rc && chmod 755 $$rc; \
fi; \
export DEBIAN_FRONTEND=noninteractive; \
apt-get update && apt-get install -y --no-install-recommends $$missing
endef

.PHONY: deps deps-test
deps:
	$(call install_packages,$(build_pkgs))

deps-test:
	$(call install_packages,$(test_pkgs))


# --- installing it, where Debian's nginx finds it

lib_dir    = $(PREFIX)/lib/deer-flow
mod_dir    = $(PREFIX)/lib/nginx/modules
mod_conf   = $(PREFIX)/share/nginx/modules-available/mod-http-sandbox.conf
mod_link   = /etc/nginx/modules-enabled/50-mod-http-sandbox.conf
man_dir    = $(PREFIX)/share/man
lua_dir    = $(PREFIX)/share/deer-flow/lua
policies  := $(wildcard lua/*.lua)

# what `make uninstall` removes, and nothing else
installed  = $(mod_dir)/$(notdir $(ngx_so)) $(mod_conf) $(mod_link) \
             $(PREFIX)/bin/deer-flow $(lib_dir)/libsbx_python.so \
             $(lib_dir)/libsbx_preload.so $(lib_dir)/libsbx_node.so \
             $(node_js:%=$(lib_dir)/%) $(man_dir)/man1/deer-flow.1 \
             $(man_dir)/man5/ngx_http_sandbox_module.5 \
             $(man_dir)/man5/deer-flow-policy.5 \
             $(policies:lua/%=$(lua_dir)/%)

.PHONY: install uninstall
install: all
	install -d $(addprefix $(DESTDIR),$(lib_dir) $(mod_dir) $(PREFIX)/bin \
	    $(dir $(mod_conf)) $(dir $(mod_link)) $(man_dir)/man1 $(man_dir)/man5 \
	    $(lua_dir) $(lib_dir)/node/warm $(lib_dir)/node/rehearsal)
	install -m 644 $(ngx_so) $(DESTDIR)$(mod_dir)/
	install -m 755 $(bld)/deer-flow $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(bld)/libsbx_preload.so $(bld)/libsbx_python.so \
	    $(bld)/libsbx_node.so $(DESTDIR)$(lib_dir)/
	for f in $(node_js); do \
	    install -m 644 $(bld)/$$f $(DESTDIR)$(lib_dir)/$$f || exit 1; done
	install -m 644 docs/deer-flow.1 $(DESTDIR)$(man_dir)/man1/
	install -m 644 docs/ngx_http_sandbox_module.5 docs/deer-flow-policy.5 \
	    $(DESTDIR)$(man_dir)/man5/
	install -m 644 $(policies) $(DESTDIR)$(lua_dir)/
	echo 'load_module $(mod_dir)/$(notdir $(ngx_so));' \
	    > $(DESTDIR)$(mod_conf)
	ln -sf $(mod_conf) $(DESTDIR)$(mod_link)

uninstall:
	rm -f $(addprefix $(DESTDIR),$(installed))
	for d in $(lib_dir)/node/warm $(lib_dir)/node/rehearsal $(lib_dir)/node \
	    $(lib_dir) $(lua_dir) $(dir $(lua_dir)); do \
	    test ! -d $(DESTDIR)$$d \
	        || rmdir --ignore-fail-on-non-empty $(DESTDIR)$$d; \
	done

include tests/tests.mk

.PHONY: help
help:
	@echo 'make                everything, in $(BUILD)/'
	@echo 'make run            packages, build, and the example on PORT=8080'
	@echo 'make test           packages, and what CI runs'
	@echo 'make test-long      that, and what takes longer'
	@echo 'make SUITE [T=...]  one suite: $(CI_SUITES)'
	@echo '                    $(LONG_SUITES)'
	@echo 'make bench [T=...]  what a run costs, as ratios; BENCH_JSON=FILE'
	@echo 'make deps           build packages alone; deps-test: for tests too'
	@echo 'make install        DESTDIR= PREFIX=/usr; uninstall takes it back'
	@echo 'make clean'
	@echo
	@echo 'CC=clang, NGINX_SRC=DIR (a source tree of nginx), BUILD=DIR,'
	@echo 'SANITIZE=address,undefined'

.PHONY: clean
clean:
	rm -rf $(bld) t/servroot t/servroot_*
