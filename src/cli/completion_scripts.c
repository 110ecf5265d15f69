/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The scripts of `completion`: each asks `qosd-ctl __complete -- WORD ...` what can stand in the
 * place of the last word (completion.c), so that they know no command themselves.
 */
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "lib/base/alloc.h"
#include "local_commands.h"

/*
 * Bash cuts words at = and :, so these are put together again, and what the shell does not replace
 * is cut from the candidates.  Names with blanks are quoted unless the user has begun to quote.
 */
static const char bash[] =
	"# Completes qosd-ctl in bash; made by `qosd-ctl completion bash'.\n"
	"_qosd_ctl() {\n"
	"\tlocal words=() word cur kept quote i joined='' line lines program=${COMP_WORDS[0]/#\\~/$HOME}\n"
	"\tfor ((i = 1; i <= COMP_CWORD; i++)); do\n"
	"\t\tword=${COMP_WORDS[i]}\n"
	"\t\tif ((${#words[@]})) && [[ $joined || $word == [=:]* ]]; then\n"
	"\t\t\twords[${#words[@]}-1]+=$word\n"
	"\t\telse\n"
	"\t\t\twords+=(\"$word\")\n"
	"\t\tfi\n"
	"\t\tjoined=''\n"
	"\t\t[[ $word != *[=:] ]] || joined=1\n"
	"\tdone\n"
	"\t((${#words[@]})) || words=('')\n"
	"\tcur=${words[${#words[@]}-1]} quote=''\n"
	"\tfor ((i = 0; i < ${#words[@]}; i++)); do\n"
	"\t\tword=${words[i]}\n"
	"\t\tcase $word in\n"
	"\t\t[\\'\\\"]*) word=${word#[\\'\\\"]} word=${word%[\\'\\\"]} ;;\n"
	"\t\t*) word=${word//\\\\/} ;;\n"
	"\t\tesac\n"
	"\t\twords[i]=$word\n"
	"\tdone\n"
	"\tcase $cur in [\\'\\\"]*) quote=1 ;; esac\n"
	"\tcur=${words[${#words[@]}-1]}\n"
	"\tkept=''\n"
	"\t[[ $quote || $cur != *[=:]* ]] || kept=${cur%\"${cur##*[=:]}\"}\n"
	"\tCOMPREPLY=()\n"
	"\tmapfile -t lines < <(\"$program\" __complete -- \"${words[@]}\" 2>/dev/null)\n"
	"\tfor line in \"${lines[@]}\"; do\n"
	"\t\tword=${line%%$'\\t'*}\n"
	"\t\tcase $line in\n"
	"\t\t:files | :dirs)\n"
	"\t\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\t\ti=-f\n"
	"\t\t\t[ \"$line\" = :files ] || i=-d\n"
	"\t\t\tmapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen $i -- \"${cur##*=}\")\n"
	"\t\t\t;;\n"
	"\t\t*)\n"
	"\t\t\tword=${word#\"$kept\"}\n"
	"\t\t\t[[ $quote || $word != *[!A-Za-z0-9_./:,@%+=-]* ]] || printf -v word %q \"$word\"\n"
	"\t\t\tCOMPREPLY+=(\"$word\")\n"
	"\t\t\t;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"}\n"
	"complete -F _qosd_ctl qosd-ctl\n";

static const char zsh[] =
	"#compdef qosd-ctl\n"
	"# Completes qosd-ctl in zsh; made by `qosd-ctl completion zsh'.\n"
	"_qosd-ctl() {\n"
	"\tlocal line name help\n"
	"\tlocal -a before lines found\n"
	"\tbefore=(\"${(@Q)words[2,CURRENT]}\")\n"
	"\tlines=(\"${(@f)$(\"${(Q)words[1]}\" __complete -- \"${before[@]}\" 2>/dev/null)}\")\n"
	"\tfor line in \"${lines[@]}\"; do\n"
	"\t\tcase $line in\n"
	"\t\t:files) [[ $PREFIX != --*=* ]] || compset -P '*='; _files ;;\n"
	"\t\t:dirs) _files -/ ;;\n"
	"\t\t?*)\n"
	"\t\t\tname=${line%%$'\\t'*} help=${line#*$'\\t'}\n"
	"\t\t\tfound+=(\"${name//:/\\\\:}${help:+:$help}\")\n"
	"\t\t\t;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\t(( ! ${#found} )) || _describe -t values 'qosd-ctl' found\n"
	"}\n"
	"if [ \"$funcstack[1]\" = _qosd-ctl ]; then\n"
	"\t_qosd-ctl \"$@\"\n"
	"else\n"
	"\tcompdef _qosd-ctl qosd-ctl\n"
	"fi\n";

static const char fish[] =
	"# Completes qosd-ctl in fish; made by `qosd-ctl completion fish'.\n"
	"function __qosd_ctl\n"
	"\tset -l words (commandline -opc) (commandline -ct)\n"
	"\tset -l program $words[1]\n"
	"\tset -l last (string unescape -- $words[-1]; or echo -- $words[-1])\n"
	"\tfor line in ($program __complete -- $words[2..-2] \"$last\" 2>/dev/null)\n"
	"\t\tswitch $line\n"
	"\t\t\tcase :files\n"
	"\t\t\t\tset -l value (string replace -r '^--[^=]*=' '' -- \"$last\")\n"
	"\t\t\t\tset -l option (string match -r '^--[^=]*=' -- \"$last\")\n"
	"\t\t\t\tfor name in (__fish_complete_path \"$value\")\n"
	"\t\t\t\t\tprintf '%s%s\\n' \"$option\" $name\n"
	"\t\t\t\tend\n"
	"\t\t\tcase :dirs\n"
	"\t\t\t\t__fish_complete_directories \"$last\"\n"
	"\t\t\tcase '*'\n"
	"\t\t\t\techo -- $line\n"
	"\t\tend\n"
	"\tend\n"
	"end\n"
	"complete -c qosd-ctl -f -a '(__qosd_ctl)'\n";

int local_completion(const struct command_line *line)
{
	static const struct { const char *shell, *script; } scripts[] = {
		{ "bash", bash }, { "zsh", zsh }, { "fish", fish },
	};
	const char *shell = line->given.v[0].value;

	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++)
		if (!strcmp(shell, scripts[i].shell))
			return fputs(scripts[i].script, stdout) != EOF && fflush(stdout) == 0 ?
				EXIT_DONE : EXIT_REFUSED;
	fprintf(stderr, "qosd-ctl: completion: no such shell: %s (bash, zsh, fish)\n", shell);
	return EXIT_REFUSED;
}
