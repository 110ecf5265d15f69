# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# One non-recursive Makefile.  What depends on the machine is in config.mk,
# which configure makes; a plain `make` in a fresh checkout does that by
# itself.
#
#   make V=1                       shows the commands
#   make CC=clang                  a variant: builds in build-clang/
#   make SANITIZE=address,undefined    … in build-address-undefined/
#   make COVERAGE=1                … in build-coverage/
#   make CONFIG=dir/config.mk BUILD=dir    leaves the source tree alone

# --- layers -----------------------------------------------------------------
#
# A layer is a folder of src/ with the folders in it that are no layers of their
# own, and an archive.  LAYERS has them in link order, lowest first.  uses_X says
# which layers, or which single headers of one, X may include; tests/check-layers
# checks every #include against it, and a unit test is linked with what its layer
# uses and nothing else.

LAYERS = lib/base lib/format lib/iba qos/arbiter cli/convert cli/socket cli/rest/api fabric/ibdm fabric/dump fabric routing routing/gauge \
	qos plan events/history events sa/registry config store lib/loop mad discovery perf sm sa ctl \
	sim/clock sim/net sim/topo sim/dev sim/hca sim/host sim/check sim/ctl

uses_lib/base   =
uses_lib/format = lib/base
uses_lib/iba    = lib/base
uses_lib/loop   = lib/base
uses_fabric/ibdm = lib/base
uses_fabric/dump = lib/base fabric/ibdm
uses_fabric     = lib/base lib/iba fabric/dump
uses_routing    = lib/base lib/iba fabric
uses_routing/gauge = lib/base lib/iba fabric routing
uses_qos/arbiter = lib/base lib/iba
uses_qos        = lib/base lib/iba qos/arbiter fabric routing/layers.h
uses_plan       = lib/base lib/iba qos/arbiter fabric routing routing/gauge qos
uses_events/history = lib/base
uses_events     = lib/base lib/format/json.h lib/iba fabric routing qos plan
uses_sa/registry = lib/base lib/iba fabric routing qos plan
uses_config     = lib/base lib/format lib/iba fabric qos/arbiter/vlarb_from_shares.h qos/policy.h plan/settings.h \
		events/event.h events/outages.h
uses_store      = lib/base lib/iba fabric plan sa/registry
uses_mad        = lib/base lib/iba lib/loop
uses_discovery  = lib/base lib/iba fabric lib/loop
uses_perf       = lib/base lib/iba qos/arbiter fabric routing qos plan events/event.h lib/loop mad
uses_sm         = lib/base lib/iba fabric routing qos plan events/event.h sa/registry store lib/loop mad \
		discovery
uses_sa         = lib/base lib/iba fabric routing qos plan sa/registry
uses_ctl        = lib/base lib/format/json.h lib/format/deflate.h lib/iba qos/arbiter fabric routing routing/gauge qos plan events events/history \
		sa/registry config store lib/loop mad perf sm sa
uses_cli/convert = lib/base lib/iba
uses_cli/socket = lib/base
uses_cli/rest/api = lib/base lib/format
# The simulator judges the daemon: the two share only what serves anything, and the reader of
# topology files, whose records are of what a file says and of nothing that the simulator judges.
uses_sim/clock  = lib/base
uses_sim/net    = lib/base
uses_sim/topo   = lib/base fabric/dump sim/net
uses_sim/dev    = lib/base lib/format sim/net
uses_sim/hca    = lib/base sim/net sim/dev
uses_sim/host   = lib/base sim/net
uses_sim/check  = lib/base sim/net
uses_sim/ctl    = lib/base lib/format sim/net sim/dev sim/check

# Programs, each with the folder that has its main() and the layers that this folder uses.
PROGRAMS = qosd qosd-ctl qosd-rest qosd-sim
folder_qosd     = daemon
folder_qosd-ctl = cli
folder_qosd-rest = cli/rest
folder_qosd-sim = sim/main
uses_daemon     = $(filter-out sim/% cli/%,$(LAYERS))
uses_cli        = lib/base lib/iba cli/convert cli/socket
uses_cli/rest   = lib/base lib/format cli/socket cli/rest/api
uses_sim/main   = lib/base lib/format fabric/ibdm fabric/dump lib/loop sim/clock sim/net sim/topo sim/dev sim/hca sim/host \
		sim/check sim/ctl sim/preload/socket.h
libs_qosd     = $(UMAD_LIBS) $(MAD_LIBS) $(NETDISC_LIBS) $(EV_LIBS) $(YAML_LIBS) \
		$(JANSSON_LIBS) $(HTTP_LIBS) $(SECCOMP_LIBS) $(SQLITE_LIBS) $(ZLIB_LIBS)
libs_qosd-ctl = $(JANSSON_LIBS)
libs_qosd-rest = $(YAML_LIBS) $(JANSSON_LIBS) $(HTTP_LIBS) $(GNUTLS_LIBS) $(SECCOMP_LIBS) $(CRYPT_LIBS)
libs_qosd-sim = $(MAD_LIBS) $(EV_LIBS) $(YAML_LIBS) $(JANSSON_LIBS)

# The library that qosd-sim puts before libibumad in the programs that it starts.
uses_sim/preload =
PRELOAD = $(BUILD)/libqosd-sim.so
# Another one gives them simulated time.
uses_sim/preload_clock = sim/preload/next.h sim/preload/socket.h
PRELOAD_CLOCK = $(BUILD)/libqosd-sim-clock.so

# A library's transport or parser belongs to one layer: header=layer.
OWNED_HEADERS = ev.h=lib/loop yaml.h=lib/format libxml/parser.h=cli/convert libxml/tree.h=cli/convert \
		libxml/xmlerror.h=cli/convert infiniband/ibnetdisc.h=discovery microhttpd.h=lib/loop,cli/rest crypt.h=cli/rest/api \
		seccomp.h=lib/base sqlite3.h=events/history zlib.h=lib/format \
		infiniband/umad.h=mad,discovery,sim/host,sim/main,sim/preload infiniband/verbs.h=sim/preload \
		gnutls/gnutls.h=cli/rest gnutls/x509.h=cli/rest check.h=

# --- configuration ----------------------------------------------------------

CONFIG ?= config.mk

# These goals need no configuration; check and demo see to what is missing
# and then run make again.
bare_goals = help deps check demo clean distclean
ifneq ($(filter-out $(bare_goals),$(or $(MAKECMDGOALS),all)),)
include $(CONFIG)
endif

# A compiler or sanitizer named on the command line makes a variant with a
# build directory of its own; configure must not take it for the default.
comma = ,
named = $(if $(filter command,$(origin $(1))),$(if $($(1)),-$(subst $(comma),-,$(notdir $($(1))))))
BUILD ?= build$(call named,CC)$(call named,SANITIZE)$(if $(COVERAGE),-coverage)
ifeq ($(filter command,$(origin CC)),command)
unexport CC
endif

$(CONFIG): configure config.mk.in
	@mkdir -p $(@D)
	@if test -x $(@D)/config.status; then \
		cd $(@D) && ./config.status --recheck >/dev/null && ./config.status >/dev/null; \
	else \
		echo '  CONFIGURE'; cd $(@D) && $(CURDIR)/configure -q; \
	fi
	@touch $@

configure: configure.ac
	@command -v autoconf >/dev/null || \
		{ echo "make: autoconf is missing: run 'make deps'" >&2; exit 1; }
	autoconf --force

# --- flags ------------------------------------------------------------------

WARN = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual \
	$(if $(WERROR),-Werror)
ifneq ($(SANITIZE),)
# The sanitizers want to see memory as the program wrote it.
VARIANT_CFLAGS = -O1 -fno-omit-frame-pointer -fsanitize=$(SANITIZE) -fno-sanitize-recover=all
VARIANT_LDFLAGS = -fsanitize=$(SANITIZE)
else ifneq ($(COVERAGE),)
# Threads count at once; little is optimised, so that lines stay what they are.
VARIANT_CFLAGS = -Og --coverage -fprofile-update=atomic -DQOSD_COVERAGE
VARIANT_LDFLAGS = --coverage
else
VARIANT_CFLAGS = $(HARDEN_CFLAGS) $(FORTIFY)
VARIANT_LDFLAGS = $(HARDEN_LDFLAGS)
endif
ALL_CPPFLAGS = -D_GNU_SOURCE -DQOSD_VERSION='"$(VERSION)"' -Isrc -Iinclude $(CPPFLAGS)
ALL_CFLAGS = -std=c11 -pthread $(WARN) $(CFLAGS) $(VARIANT_CFLAGS) \
	$(UMAD_CFLAGS) $(MAD_CFLAGS) $(NETDISC_CFLAGS) $(YAML_CFLAGS) $(JANSSON_CFLAGS) \
	$(XML_CFLAGS) $(HTTP_CFLAGS) $(GNUTLS_CFLAGS) $(SECCOMP_CFLAGS) $(SQLITE_CFLAGS) $(ZLIB_CFLAGS)
ALL_LDFLAGS = $(VARIANT_LDFLAGS) $(LDFLAGS)
COMMON_LIBS = -lm

V ?= 0
say = $(if $(filter 0,$(V)),@printf '  %-8s%s\n' $(1) $@;)
quiet = $(if $(filter 0,$(V)),@)

# --- objects, archives, programs --------------------------------------------

# The layer of X, which is a layer or a header of one.
layer_of = $(if $(filter $(1),$(LAYERS)),$(1),$(if $(findstring /,$(1)),$(call layer_of,$(patsubst %/,%,$(dir $(1))))))
# All layers below X, and an archive list in link order: highest first.
below = $(sort $(foreach u,$(foreach h,$(uses_$(1)),$(call layer_of,$(h))),$(u) $(call below,$(u))))
reverse = $(if $(1),$(call reverse,$(wordlist 2,$(words $(1)),$(1))) $(firstword $(1)))
archive = $(BUILD)/archives/$(subst /,-,$(1)).a
archives = $(foreach l,$(call reverse,$(filter $(1),$(LAYERS))),$(call archive,$(l)))
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard $(1)/*.c))
# Folders of a layer or program: src/X and what is in it, but for layers and programs of their own.
folders = src/$(1) $(filter-out $(addprefix src/,$(LAYERS) $(foreach p,$(PROGRAMS),$(folder_$(p)))),$(patsubst %/,%,$(wildcard src/$(1)/*/)))
layer_objects = $(foreach f,$(call folders,$(1)),$(call objects,$(f)))
# What a layer's archive needs of other people's libraries: those of the daemon
# serve all, since nothing is linked that is not used.
LINK_LIBS = -Wl,--as-needed $(libs_qosd) $(CRYPT_LIBS) $(COMMON_LIBS)

programs = $(addprefix $(BUILD)/,$(PROGRAMS))

.PHONY: all
all: $(programs) $(PRELOAD) $(PRELOAD_CLOCK)	## build the programs (the default)
.DEFAULT_GOAL := all

# Rebuilt when the flags may have changed.
$(BUILD)/obj/%.o: %.c Makefile $(CONFIG)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

define archive_rule
$(call archive,$(1)): $(call layer_objects,$(1))
	@mkdir -p $$(@D)
	$(quiet)rm -f $$@
	$$(call say,AR)$$(AR) rcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(eval $(call archive_rule,$(l))))

define program_rule
$(BUILD)/$(1): $(call layer_objects,$(folder_$(1))) $(call archives,$(uses_$(folder_$(1))))
	$$(call say,LINK)$$(CC) $$(ALL_CFLAGS) $$(ALL_LDFLAGS) -o $$@ $$^ $(libs_$(1)) $$(COMMON_LIBS)
endef
$(foreach p,$(PROGRAMS),$(eval $(call program_rule,$(p))))

# Never instrumented itself: it is loaded into programs that are not.
own_cflags = $(filter-out -fPIE -fsanitize% -fno-sanitize% --coverage,$(ALL_CFLAGS))
$(PRELOAD): $(wildcard src/sim/preload/*.c src/sim/preload/*.h) include/qosd/sim.h Makefile $(CONFIG)
$(PRELOAD_CLOCK): $(wildcard src/sim/preload_clock/*.c src/sim/preload_clock/*.h) src/sim/preload/next.h \
		src/sim/preload/socket.h include/qosd/sim.h include/qosd/sim_clock.h Makefile $(CONFIG)
$(PRELOAD) $(PRELOAD_CLOCK):
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_CPPFLAGS) $(own_cflags) \
		$(VERBS_CFLAGS) -fPIC -shared -o $@ $(filter %.c,$^) $(LDFLAGS) -ldl
$(BUILD)/obj/src/sim/main/%: ALL_CPPFLAGS += -DQOSD_LIBDIR='"$(libdir)"'
$(BUILD)/obj/src/cli/rest/%: ALL_CPPFLAGS += -DQOSD_REST_CONFIG='"$(sysconfdir)/qosd/qosd-rest.yaml"'
$(BUILD)/obj/src/cli/convert/%: ALL_CPPFLAGS += -DXML_SONAME='"$(XML_SONAME)"'

# The page of `report`, which is in the daemon.
$(BUILD)/report.html: scripts/report-page $(wildcard share/report/*)
	@mkdir -p $(@D)
	$(call say,PAGE)scripts/report-page >$@
$(BUILD)/obj/src/ctl/report/report_page.o: $(BUILD)/report.html
$(BUILD)/obj/src/ctl/report/report_page.o: ALL_CPPFLAGS += -DREPORT_HTML='"$(BUILD)/report.html"'

# --- test programs ----------------------------------------------------------

# tests/unit/LAYER/test_*.c: a program each, with any other .c beside it.
unit_sources = $(wildcard tests/unit/$(1)/test_*.c)
unit_helpers = $(filter-out $(BUILD)/obj/tests/unit/$(1)/test_%,$(call objects,tests/unit/$(1))) \
	$(patsubst %,$(BUILD)/obj/tests/unit/%.o,$(helpers_$(1)))
# Or of another layer's tests:
helpers_sa/registry = plan/net
helpers_events = plan/net
helpers_perf = mad/fake_umad plan/net
helpers_sm = plan/net discovery/devices
helpers_sim/hca = sim/dev/smp_test
UNIT_TESTS = $(foreach l,$(LAYERS),$(patsubst %.c,$(BUILD)/%,$(call unit_sources,$(l))))

$(BUILD)/obj/tests/unit/%: ALL_CPPFLAGS += -Itests -include unit/assert.h $(CHECK_CFLAGS)
# Tests are long lists of checks: to optimize them takes more time than it saves.
$(BUILD)/obj/tests/unit/%: ALL_CFLAGS += -Og
define unit_rule
$(patsubst %.c,$(BUILD)/%,$(call unit_sources,$(1))): $(BUILD)/tests/unit/$(1)/%: \
		$(BUILD)/obj/tests/unit/$(1)/%.o $(call unit_helpers,$(1)) \
		$(call archives,$(1) $(call below,$(1)))
	@mkdir -p $$(@D)
	$$(call say,LINK)$$(CC) $$(ALL_CFLAGS) $$(ALL_LDFLAGS) -o $$@ $$^ $(CHECK_LIBS) $$(LINK_LIBS)
endef
$(foreach l,$(LAYERS),$(eval $(call unit_rule,$(l))))

# Its devices answer what the walk of discovery sends.
$(BUILD)/tests/unit/sm/test_identity: ALL_LDFLAGS += \
	$(foreach f,init open_port register send recv,-Wl,--wrap=umad_$(f))

# What they send is answered by the test (tests/unit/sm/smps.h).
SMPS_TESTS = implausible
$(patsubst %,$(BUILD)/tests/unit/sm/test_%,$(SMPS_TESTS)): ALL_LDFLAGS += \
	$(foreach f,smp_job_start smp_job_cancel smp_send mad_hold mad_release sm_want_sweep,-Wl,--wrap=$(f))

# tests/unit/daemon/test_NAME.c: of the daemon's NAME.c alone, with a clock of the test's own; what
# that file calls is the test's as well, unless it is pure.
PROGRAM_TESTS = $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/daemon/test_*.c))
UNIT_TESTS += $(PROGRAM_TESTS)
daemon_object = $(filter %/$(1).o,$(call layer_objects,daemon))
define daemon_test_rule
$(1): $(BUILD)/obj/$(patsubst $(BUILD)/%,%,$(1)).o $(call daemon_object,$(patsubst test_%,%,$(notdir $(1)))) \
		$(call archives,sm $(call below,sm))
	@mkdir -p $$(@D)
	$$(call say,LINK)$$(CC) $$(ALL_CFLAGS) $$(ALL_LDFLAGS) -Wl,--wrap=clock_mono_us -o $$@ $$^ $(CHECK_LIBS) $$(LINK_LIBS)
endef
$(foreach t,$(PROGRAM_TESTS),$(eval $(call daemon_test_rule,$(t))))

# tests/tools/*.c and tests/bench/*.c: a program each, of one file, but for
# libraries to be preloaded.  tools/port.c: what programs with a port share.
TOOL_SHARED = tests/tools/port.c
TOOL_PRELOADS = $(patsubst %,tests/tools/%.c,faultydisk newermaster needycall discolies)
TEST_TOOLS = $(patsubst %.c,$(BUILD)/%,$(filter-out $(TOOL_PRELOADS) $(TOOL_SHARED),$(wildcard tests/tools/*.c)))
TOOL_LIBRARIES = $(patsubst %.c,$(BUILD)/%.so,$(TOOL_PRELOADS))
BENCH_PRELOADS = tests/bench/count_umad.c tests/bench/turns.c
BENCH_PROGRAMS = $(patsubst %.c,$(BUILD)/%,$(filter-out $(BENCH_PRELOADS),$(wildcard tests/bench/*.c)))
BENCH_LIBRARIES = $(patsubst %.c,$(BUILD)/%.so,$(BENCH_PRELOADS))
# Tools share nothing with what they test; benchmarks measure the pure layers.
# Fabrics may be those of the simulator.
$(BUILD)/tests/bench/topology: $(call archives,sim/topo sim/net)
$(TEST_TOOLS): $(call archives,lib/base lib/iba fabric/ibdm fabric/dump fabric)
$(BENCH_PROGRAMS): $(call archives,sa $(call below,sa))
$(TEST_TOOLS) $(BENCH_PROGRAMS): $(BUILD)/tests/%: $(BUILD)/obj/tests/%.o \
		$(patsubst %.c,$(BUILD)/obj/%.o,$(TOOL_SHARED))
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LINK_LIBS)
# What it loads finds in it what it is the core of.
$(BUILD)/tests/tools/acmread: ALL_LDFLAGS += -rdynamic
$(TOOL_LIBRARIES) $(BENCH_LIBRARIES): $(BUILD)/tests/%.so: tests/%.c Makefile $(CONFIG)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_CPPFLAGS) $(own_cflags) -fPIC -shared -o $@ $< $(LDFLAGS) -ldl
$(BUILD)/obj/tests/bench/%: ALL_CPPFLAGS += -Itests

# tests/fuzz/fuzz_*.c: a libFuzzer program each; without FUZZ=1 it replays the
# files that it is given (replay.c).  subnet.c: what several of them ask about.
FUZZERS = $(patsubst %.c,$(BUILD)/%,$(wildcard tests/fuzz/fuzz_*.c))
$(BUILD)/obj/tests/fuzz/%: ALL_CPPFLAGS += -Itests
$(FUZZERS): $(BUILD)/tests/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(BUILD)/obj/tests/fuzz/subnet.o \
		$(if $(FUZZ),,$(BUILD)/obj/tests/fuzz/replay.o) \
		$(call archives,$(filter-out cli/%,$(LAYERS)))
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(if $(FUZZ),-fsanitize=fuzzer) -o $@ $^ $(LINK_LIBS)
# The converter is another program's, and no neighbour of the daemon's layers.
$(BUILD)/tests/fuzz/fuzz_convert: $(call archive,cli/convert)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
.SECONDARY:
.DELETE_ON_ERROR:

# --- tests ------------------------------------------------------------------

# Scripts find what they test by these.  Dumps of real fabrics are used where
# somebody has put them beside the checkout.
export QOSD_BUILD := $(abspath $(BUILD))
export QOSD_FABRICS ?= $(abspath ../shared/fabrics)
export QOSD_SANITIZE = $(SANITIZE)
export LAYER_TABLE := $(foreach l,$(LAYERS) $(foreach p,$(PROGRAMS),$(folder_$(p))) sim/preload sim/preload_clock,$(l):$(subst $() ,$(comma),$(strip $(uses_$(l)))))
export PROGRAM_TABLE := $(foreach p,$(PROGRAMS),$(p):$(subst $() ,$(comma),$(strip $(folder_$(p)) \
	$(sort $(foreach u,$(uses_$(folder_$(p))),$(call layer_of,$(u)) $(call below,$(call layer_of,$(u)))))))) \
	preload:sim/preload preload_clock:sim/preload_clock
export OWNED_HEADERS

RUNNER_TESTS = tests/check-run tests/check-ci
LAYER_TESTS = tests/check-layers
PROMISE_TESTS = tests/check-promises
FILE_TESTS = tests/check-files
WORD_TESTS = tests/check-words
INTERFACE_TESTS = tests/check-interface
VERSION_TESTS = tests/check-versions
# What they look at is the sources, not the programs.
SOURCE_TESTS = $(LAYER_TESTS) $(PROMISE_TESTS) $(FILE_TESTS) $(WORD_TESTS) $(INTERFACE_TESTS) $(VERSION_TESTS)
GOLDEN_TESTS = $(wildcard tests/golden/*.sh)
FUZZ_TESTS = $(wildcard tests/fuzz/*.sh)
# Those with a number run on each simulator, sim-* on ours.
E2E_TESTS = $(filter-out %/lib.sh tests/e2e/sim-%,$(wildcard tests/e2e/*.sh))
BOTH_TESTS = $(wildcard tests/e2e/[0-9]*.sh)
SIM_TESTS = $(BOTH_TESTS) $(wildcard tests/e2e/sim-*.sh)
ALL_TESTS = $(RUNNER_TESTS) $(SOURCE_TESTS) $(UNIT_TESTS) $(GOLDEN_TESTS) $(FUZZ_TESTS) $(E2E_TESTS)
# With the real kernel: no part of `make check', as they need an emulator and a kernel's packages.
KERNEL_TESTS = $(wildcard tests/kernel/[0-9]*.sh)
# Those of the end-to-end tests in which the kernel has most part (tests/README.md names the others that can run on it).
KERNEL_E2E = $(wildcard $(foreach n,03 04 13,tests/e2e/$(n)-*.sh))
# Left out under sanitizers: these look at no sanitized program, and numbered scripts run once, on qosd-sim.
ifneq ($(SANITIZE),)
UNSANITIZED_TESTS = $(RUNNER_TESTS) $(SOURCE_TESTS) $(BOTH_TESTS)
endif
# Unit tests that tests/times does not name take less than three seconds each.
slow_units = $(addprefix $(BUILD)/,$(shell sed -nE 's/^[0-9]+ [0-9]+ (tests\/unit\/.*)/\1/p' tests/times))
QUICK_UNITS = $(filter-out $(slow_units),$(UNIT_TESTS))
QUICK_E2E = tests/e2e/01-bring-up.sh

# With LAYER=qos only that layer's unit tests; with T=name only those tests
# whose path contains it.
chosen = $(if $(T),$(foreach t,$(1),$(if $(findstring $(T),$(t)),$(t))),$(1))
ifneq ($(LAYER),)
chosen_units = $(call chosen,$(filter $(BUILD)/tests/unit/$(LAYER)/%,$(UNIT_TESTS)))
else
chosen_units = $(call chosen,$(UNIT_TESTS))
endif

# As many compilers as there are cores unless -j was given, and as many tests unless JOBS was.
jobs = $(if $(findstring j,$(filter-out --%,$(MAKEFLAGS))),,-j$(shell nproc))
submake = $(MAKE) --no-print-directory

.PHONY: check run-check check-quick check-programs check-unit check-golden check-layers check-promises check-files check-words \
	check-interface check-e2e check-sanitize check-threads promises files interface
check:	## install what is missing, build, run every test (JOBS=n at a time)
	@scripts/deps --if-missing
	@+$(submake) $(jobs) all check-programs
	@+$(submake) run-check

check-programs: $(UNIT_TESTS) $(TEST_TOOLS) $(TOOL_LIBRARIES) $(FUZZERS) $(BUILD)/promises

# A promise without a test, or a test without a promise, is an error of the build.
TAGGED = $(filter-out %/lib.sh,$(wildcard tests/check-* tests/golden/*.sh tests/fuzz/*.sh tests/e2e/*.sh)) $(KERNEL_TESTS) \
	$(foreach l,$(LAYERS) daemon,$(call unit_sources,$(l)))
$(BUILD)/promises: tests/promises.txt tests/PROMISES.md $(TAGGED)
	$(call say,CHECK)tests/check-promises >$@.log || { cat $@.log; exit 1; }
	@mv $@.log $@
files:	## make src/README.md from the header comments of all sources
	@tests/check-files --write
promises:	## make tests/PROMISES.md from the tags in the tests
	@tests/check-promises --write

run-check: all check-programs
	@tests/run $(call chosen,$(filter-out $(UNSANITIZED_TESTS),$(ALL_TESTS))) \
		QOSD_SIMULATOR=qosd-sim $(call chosen,$(SIM_TESTS))

check-quick: all $(QUICK_UNITS) $(TEST_TOOLS)	## what breaks most, in a minute: short unit tests, a bring-up
	@tests/run $(SOURCE_TESTS) $(QUICK_UNITS) $(GOLDEN_TESTS) $(QUICK_E2E) \
		QOSD_SIMULATOR=qosd-sim $(QUICK_E2E)

check-unit: $(chosen_units)	## unit tests only (LAYER=qos, T=match: some of them)
	@tests/run $(chosen_units)

check-golden: all	## policy files and what qosd says to them
	@tests/run $(call chosen,$(GOLDEN_TESTS))

check-layers:	## who includes whom
	@tests/run $(LAYER_TESTS)

check-promises:	## whether each promise has a test, and each test a promise
	@tests/run $(PROMISE_TESTS)

check-files:	## whether src/README.md is what the header comments say
	@tests/run $(FILE_TESTS)

check-words:	## whether words are in use that DESIGN.md replaces
	@tests/run $(WORD_TESTS)

check-interface:	## whether names that others rely on are as frozen, and in the manual
	@tests/run $(INTERFACE_TESTS)
interface:	## freeze the names of the JSON, events and metrics as they are now
	@tests/check-interface --write

.PHONY: check-versions check-packages
check-versions:	## whether all places that name the version name the same one
	@tests/run $(VERSION_TESTS)
# Compiles everything twice: no part of `make check'.
check-packages: all $(TEST_TOOLS)	## build and check packages of the last commit, as far as their tools are installed
	@tests/check-packages

check-e2e: all $(TEST_TOOLS) $(TOOL_LIBRARIES)	## end to end on a simulated fabric (T=name: some of them)
	@tests/run $(call chosen,$(E2E_TESTS)) QOSD_SIMULATOR=qosd-sim $(call chosen,$(SIM_TESTS))

# Each test keeps both cores of a small machine busy.
.PHONY: check-kernel
check-kernel: all $(TEST_TOOLS)	## with Debian's kernel in virtual machines (T=ipoib: some; KERNEL=PACKAGE: another)
	@scripts/deps --kernel --if-missing || echo "Tests that need what is missing are skipped."
	@QOSD_VM_KERNEL=$(KERNEL) tests/run -j 1 -t 600 $(call chosen,$(KERNEL_TESTS)) \
		QOSD_SIMULATOR=kernel $(call chosen,$(KERNEL_E2E))

# Tests that only ask do so by plain programs, which start ten times as fast.
plain_build = build$(call named,CC)
build_plain = $(submake) $(jobs) BUILD=$(plain_build) $(plain_build)/qosd-ctl $(plain_build)/qosd-sim
check-sanitize:	## each test once with address and undefined behaviour sanitizers
	@+$(build_plain)
	@+$(submake) $(jobs) SANITIZE=address,undefined all check-programs
	@+QOSD_ASKING=$(abspath $(plain_build)) $(submake) SANITIZE=address,undefined run-check

check-threads:	## each test once with the thread sanitizer
	@+$(build_plain)
	@+$(submake) $(jobs) SANITIZE=thread all check-programs
	@+QOSD_ASKING=$(abspath $(plain_build)) $(submake) SANITIZE=thread run-check

# Tests that fail are in its output; the table comes nevertheless.
coverage_run = -@GCOV_ERROR_FILE=/dev/null CK_TIMEOUT_MULTIPLIER=40 tests/run
.PHONY: coverage run-coverage
coverage:	## lines that unit, e2e and fuzz tests run, by folder (T=match: some tests)
	@scripts/deps --if-missing
	@+$(submake) $(jobs) COVERAGE=1 all check-programs
	@+$(submake) COVERAGE=1 run-coverage
run-coverage:
	@scripts/coverage begin $(BUILD)
	$(coverage_run) $(call chosen,$(UNIT_TESTS))
	@scripts/coverage keep $(BUILD) unit
	$(coverage_run) $(call chosen,$(GOLDEN_TESTS) $(E2E_TESTS)) \
		QOSD_SIMULATOR=qosd-sim $(call chosen,$(SIM_TESTS))
	@scripts/coverage keep $(BUILD) e2e
	$(coverage_run) $(call chosen,$(FUZZ_TESTS))
	@scripts/coverage keep $(BUILD) fuzz
	@scripts/coverage print $(BUILD)

.PHONY: fuzz run-fuzz fuzz-corpus run-fuzz-corpus demo bench lint
fuzz:	## fuzz each decoder for FUZZ_SECONDS=60 (needs clang)
	@+$(submake) $(jobs) CC=clang SANITIZE=address,undefined,fuzzer-no-link FUZZ=1 run-fuzz
run-fuzz: $(FUZZERS)
	set -e; for f in $(FUZZERS); do \
		new=$(BUILD)/corpus/$${f##*/fuzz_}; mkdir -p $$new; \
		dict=tests/fuzz/dict/$${f##*/fuzz_}; \
		$$f -artifact_prefix=$(BUILD)/ -max_total_time=$(or $(FUZZ_SECONDS),60) \
			$$(test ! -e $$dict || echo -dict=$$dict) \
			$$new tests/fuzz/corpus/$${f##*/fuzz_}; done
fuzz-corpus:	## keep what fuzzing has found that reaches more, and no more of it than that takes
	@+$(submake) $(jobs) CC=clang SANITIZE=address,undefined,fuzzer-no-link FUZZ=1 run-fuzz-corpus
run-fuzz-corpus: $(FUZZERS)
	@scripts/fuzz-corpus $(BUILD)
demo:	## install what is missing, build, show qosd on a simulated cluster
	@scripts/deps --if-missing
	@+$(submake) $(jobs) all
	@scripts/demo $(BUILD)
.PHONY: demo-rest
demo-rest: all	## show qosd and its REST gateway on a simulated cluster, and what to send it (PORT=8443)
	@scripts/demo-rest $(BUILD)

.PHONY: draw-cluster
draw-cluster: all	## draw doc/cluster.svg, the drawing in README.md
	@scripts/draw-cluster $(BUILD) doc/cluster.svg

# bench_*.c measure by themselves; scripts use the other programs.
BENCHES = $(filter $(BUILD)/tests/bench/bench_%,$(BENCH_PROGRAMS)) \
	$(filter-out %.c %.h tests/bench/lib,$(wildcard tests/bench/*))
.PHONY: bench-programs
bench-programs: $(TEST_TOOLS) $(BENCH_PROGRAMS) $(BENCH_LIBRARIES)
bench: all bench-programs	## measure (not a test; T=bringup: one of them)
	@set -e; for b in $(call chosen,$(BENCHES)); do echo "== $$b"; "$$b"; done

.PHONY: oracle migration pathref
oracle: all check-programs	## 200 made-up policies, 20,000 queries each, OpenSM against qosd
	@ORACLE_POLICIES=200 ORACLE_QUERIES=20000 QOSD_SIMULATOR=qosd-sim tests/e2e/sim-oracle.sh
migration: all check-programs	## public configurations of OpenSM, 20,000 queries each, moved to qosd
	@MIGRATION_QUERIES=20000 QOSD_SIMULATOR=qosd-sim tests/e2e/sim-migration.sh
PATHREF_CHANGES ?= fat-tree:k=8,routers=3@1 $(CURDIR)/examples/cluster.topo@0 fat-tree:k=16@0
pathref: all check-programs	## path queries against a slow reference: a million on each fabric that changes
	@PATHREF_POLICIES=5 PATHREF_QUERIES=3400 QOSD_SIMULATOR=qosd-sim tests/e2e/sim-pathref.sh
	@PATHREF_ROUNDS=24 PATHREF_QUERIES=30000 PATHREF_MEANWHILE=20000 QOSD_SIMULATOR=qosd-sim \
		PATHREF_FABRICS="$(PATHREF_CHANGES)" tests/e2e/sim-pathref-changes.sh

# The scripts are part of `make check', too, where each takes a few seconds.
ATTACKS = $(wildcard tests/e2e/sim-attack-*.sh)
ATTACK_SECONDS ?= 3600
SOAK_SECONDS ?= 3600
.PHONY: attack
attack: all check-programs	## attacks for ATTACK_SECONDS=3600 in all (T=name: some of them)
	@set -e; set -- $(call chosen,$(ATTACKS)); \
		ATTACK_SECONDS=$$(($(ATTACK_SECONDS) / ($$# + !$$#))) QOSD_SIMULATOR=qosd-sim \
		tests/run -j 1 -t $$(($(ATTACK_SECONDS) + 600)) QOSD_SIMULATOR=qosd-sim "$$@"

# Time is the simulator's: an hour of it takes minutes.
.PHONY: soak
soak: all check-programs	## random faults for SOAK_SECONDS=3600 of simulated time (SOAK_SEED=n: those of that seed)
	@SOAK_SECONDS=$(SOAK_SECONDS) tests/run -j 1 -t 3600 QOSD_SIMULATOR=qosd-sim tests/e2e/sim-soak.sh

lint:	## cppcheck, shellcheck, mandoc
	@scripts/lint

# --- installation -----------------------------------------------------------

MAN8 = $(wildcard man/*.8)
MAN1 = $(wildcard man/*.1)
MAN5 = $(wildcard man/*.5)
MAN7 = $(wildcard man/*.7)
UNITS = $(patsubst systemd/%.in,%,$(wildcard systemd/*.in))
ETC = $(wildcard etc/*.yaml)
# Policies, and a fabric and scripts for the simulator: etc/policy.yaml and the manual name the place.
EXAMPLES = $(wildcard examples/*)
examplesdir = $(docdir)/examples
# What Prometheus and Grafana are given.
MONITORING = contrib/grafana/qosd.json contrib/prometheus/qosd.rules.yml
# The user that the units name, and his devices.
sysusersdir = $(prefix)/lib/sysusers.d
udevrulesdir = $(prefix)/lib/udev/rules.d

$(BUILD)/systemd/%: systemd/%.in Makefile $(CONFIG)
	@mkdir -p $(@D)
	$(call say,GEN)sed -e 's|@sbindir@|$(sbindir)|g' -e 's|@bindir@|$(bindir)|g' \
		-e 's|@sysconfdir@|$(sysconfdir)|g' $< > $@
.PHONY: units
units: $(addprefix $(BUILD)/systemd/,$(UNITS))

# How shells complete qosd-ctl: the program's own scripts, under the name that each shell looks for.
COMPLETIONS = $(if $(bashdir),$(bashdir)/qosd-ctl) $(if $(zshdir),$(zshdir)/_qosd-ctl) \
	$(if $(fishdir),$(fishdir)/qosd-ctl.fish)
$(BUILD)/completion/%: $(BUILD)/qosd-ctl
	@mkdir -p $(@D)
	$(call say,GEN)$(BUILD)/qosd-ctl completion $* > $@

# Files in /etc that are there already stay as they are.  The gateway's has hashes of passwords.
.PHONY: install uninstall
install: all units $(addprefix $(BUILD)/completion/,bash zsh fish)	## install below $(DESTDIR)$(prefix)
	install -d $(DESTDIR)$(sbindir) $(DESTDIR)$(bindir) $(DESTDIR)$(sysconfdir)/qosd
	install $(BUILD)/qosd $(BUILD)/qosd-rest $(DESTDIR)$(sbindir)
	install $(BUILD)/qosd-ctl $(BUILD)/qosd-sim $(DESTDIR)$(bindir)
	install -d $(DESTDIR)$(libdir)/qosd
	install -m 644 $(PRELOAD) $(PRELOAD_CLOCK) $(DESTDIR)$(libdir)/qosd
	set -e; for f in $(notdir $(ETC)); do \
		test -e $(DESTDIR)$(sysconfdir)/qosd/$$f || \
			install -m $$(case $$f in *-rest.yaml) echo 640 ;; *) echo 644 ;; esac) \
				etc/$$f $(DESTDIR)$(sysconfdir)/qosd/; done
	install -d $(addprefix $(DESTDIR)$(mandir)/man,1 5 7 8)
	$(if $(MAN1),install -m 644 $(MAN1) $(DESTDIR)$(mandir)/man1)
	$(if $(MAN5),install -m 644 $(MAN5) $(DESTDIR)$(mandir)/man5)
	$(if $(MAN7),install -m 644 $(MAN7) $(DESTDIR)$(mandir)/man7)
	$(if $(MAN8),install -m 644 $(MAN8) $(DESTDIR)$(mandir)/man8)
	$(if $(bashdir),install -D -m 644 $(BUILD)/completion/bash $(DESTDIR)$(bashdir)/qosd-ctl)
	$(if $(zshdir),install -D -m 644 $(BUILD)/completion/zsh $(DESTDIR)$(zshdir)/_qosd-ctl)
	$(if $(fishdir),install -D -m 644 $(BUILD)/completion/fish $(DESTDIR)$(fishdir)/qosd-ctl.fish)
	install -d $(DESTDIR)$(examplesdir)
	install -m 644 $(EXAMPLES) $(DESTDIR)$(examplesdir)
	set -e; for f in $(MONITORING); do install -D -m 644 $$f $(DESTDIR)$(docdir)/$$f; done
	$(if $(unitdir),install -d $(DESTDIR)$(unitdir))
	$(if $(unitdir),install -m 644 $(addprefix $(BUILD)/systemd/,$(UNITS)) $(DESTDIR)$(unitdir))
	$(if $(unitdir),install -d $(DESTDIR)$(sysusersdir) $(DESTDIR)$(udevrulesdir))
	$(if $(unitdir),install -m 644 systemd/qosd.sysusers $(DESTDIR)$(sysusersdir)/qosd.conf)
	$(if $(unitdir),install -m 644 systemd/90-qosd.rules $(DESTDIR)$(udevrulesdir))

uninstall:	## remove what install put there, but for /etc
	rm -f $(addprefix $(DESTDIR)$(sbindir)/,qosd qosd-rest) $(addprefix $(DESTDIR)$(bindir)/,qosd-ctl qosd-sim)
	rm -f $(addprefix $(DESTDIR)$(libdir)/qosd/,$(notdir $(PRELOAD) $(PRELOAD_CLOCK)))
	-rmdir $(DESTDIR)$(libdir)/qosd 2>/dev/null
	rm -f $(foreach s,1 5 7 8,$(addprefix $(DESTDIR)$(mandir)/man$(s)/,$(notdir $(MAN$(s)))))
	rm -f $(addprefix $(DESTDIR),$(COMPLETIONS))
	rm -f $(addprefix $(DESTDIR)$(examplesdir)/,$(notdir $(EXAMPLES)))
	rm -f $(addprefix $(DESTDIR)$(docdir)/,$(MONITORING))
	-rmdir $(addprefix $(DESTDIR)$(docdir)/,$(dir $(MONITORING)) contrib examples) $(DESTDIR)$(docdir) 2>/dev/null
	$(if $(unitdir),rm -f $(addprefix $(DESTDIR)$(unitdir)/,$(UNITS)))
	$(if $(unitdir),rm -f $(DESTDIR)$(sysusersdir)/qosd.conf $(DESTDIR)$(udevrulesdir)/90-qosd.rules)

# --- the rest ---------------------------------------------------------------

.PHONY: deps clean distclean dist distcheck help
deps:	## install the Debian packages that are needed (as root)
	@scripts/deps

clean:	## remove what was built
	rm -rf build build-*

distclean: clean	## … and what configure made
	rm -rf configure configure~ config.mk config.log config.status autom4te.cache
	rm -f qosd-*.tar.gz

DIST = qosd-$(VERSION)
dist: $(DIST).tar.gz	## a tar ball of the last commit, with configure
# Of whatever the last commit is now.
.PHONY: $(DIST).tar.gz
$(DIST).tar.gz: configure
	git archive --format=tar.gz --prefix=$(DIST)/ --add-file=configure -o $@ HEAD

# From the tar ball, in a source directory that nobody may write.
distcheck: dist	## build and unit-test the tar ball
	@scripts/distcheck $(DIST)

help:	## this text
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 24
