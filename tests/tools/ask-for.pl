# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# ask-for.pl SOCKET NAME COMMAND ARGS: gives qosd a command on behalf of somebody, as gateways do, and prints the
# first line of the answer.
use strict;
use warnings;
use IO::Socket::UNIX;

my ($path, $name, $command, $args) = @ARGV;
my $socket = IO::Socket::UNIX->new($path) or die "$path: $!\n";
print $socket qq({"command": "$command", "args": $args, "on-behalf-of": "$name"}\n);
print scalar <$socket>;
