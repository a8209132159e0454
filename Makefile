# make            everything under build/
# make run        installs what is missing, builds, serves examples/nginx.conf
# make test       installs what tests need, runs the CI tier
# make help       the rest

BUILD     ?= build
CC        ?= gcc
CFLAGS    ?= -O2 -g
WARN       = -std=gnu11 -Wall -Wextra -Werror
CPPFLAGS  += -D_GNU_SOURCE -Isandbox
PREFIX    ?= /usr

bld := $(abspath $(BUILD))

# what only one program links
core_only   := sandbox/sbx_preload.c sandbox/sbx_python.c sandbox/sbx_main.c
core_srcs   := $(filter-out $(core_only),$(wildcard sandbox/*.c))
core_objs   := $(core_srcs:sandbox/%.c=$(bld)/obj/%.o)

.PHONY: all
all: $(bld)/deer-flow $(bld)/libsbx_preload.so $(bld)/deer-flow-python module

$(bld)/obj/%.o: sandbox/%.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) -fPIC -MMD -MP -c -o $@ $<

-include $(wildcard $(bld)/obj/*.d)

$(bld)/libsbx.a: $(core_objs)
	@rm -f $@
	ar rcs $@ $^

$(bld)/deer-flow: $(bld)/obj/sbx_main.o $(bld)/libsbx.a
	$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-z,relro,-z,now -o $@ $^ -lseccomp -ljson-c
