# temporary; replaced by the project build
CC ?= gcc
LAYERS = base ib fabric qos route plan conf store loop mad disco sm sa ctl
CFLAGS = -std=c11 -D_GNU_SOURCE -O2 -g -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Isrc
objs = $(patsubst src/%.c,build/%.o,$(wildcard src/$(1)/*.c))
.PHONY: all
all: $(foreach l,$(LAYERS),$(call objs,$(l)))
build/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -c $< -o $@
-include $(shell find build -name '*.d' 2>/dev/null)
