/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The smallest dump with all kinds of records, for tests of the reader and of users of its records. */
#ifndef TESTS_FABRIC_DUMP_SMALL_DUMP_H
#define TESTS_FABRIC_DUMP_SMALL_DUMP_H

/* One switch, one CA, one link; lines 1 to 11. */
#define IDS_SW	"vendid=0x2c9\ndevid=0xbd36\nsysimgguid=0x2003\nswitchguid=0x2000(2000)\n"
#define IDS_CA	"vendid=0x8f1\ndevid=0x5a44\nsysimgguid=0x1003\ncaguid=0x1000\n"
#define SW	"Switch\t4 \"S-0000000000002000\"\t\t# \"the switch\" base port 0 lid 7 lmc 0\n"
#define CA	"Ca\t2 \"H-0000000000001000\"\t\t# \"the host\"\n"
#define SW_PORT(speed) "[3]\t\"H-0000000000001000\"[1](1001) \t\t# \"the host\" lid 9 " speed "\n"
#define CA_PORT(speed) \
	"[1](1001) \t\"S-0000000000002000\"[3]\t\t# lid 9 lmc 2 \"the switch\" lid 7 " speed "\n"
#define SMALL(sw_speed, ca_speed) \
	IDS_SW SW SW_PORT(sw_speed) IDS_CA CA CA_PORT(ca_speed)

#endif
