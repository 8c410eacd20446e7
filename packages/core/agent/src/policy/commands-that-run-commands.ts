/** Programs whose words are other programs: listing them would list everything, so they ask although they are listed. */
import { trimEndOf } from "@svc/contract";
import { argumentsAsk, hasConditions, PROGRAM_RULES, type ProgramRule } from "./program-rules.ts";
import type { Word } from "./shell-syntax.ts";

/** By name without version: `python3.12` is `python`. */
export function takesCommands(program: string): boolean {
  const name = program.toLowerCase();
  return NAMES.has(name) || NAMES.has(trimEndOf(name, "0123456789.-"));
}

/** Whether the arguments of a program that is otherwise harmless make it run another one, or write or delete files. */
export function isRisky(program: string, args: readonly Word[]): boolean {
  const rule = ruleOf(program);
  if (!rule || !hasConditions(rule)) return false;
  // A pattern is replaced by file names, and a file can be called `-exec`.
  return (
    args.some((arg) => arg.glob || arg.tilde) ||
    argumentsAsk(
      rule,
      args.map((arg) => arg.text),
    )
  );
}

/** Whether the program makes and changes nothing, with arguments that are not risky. */
export const onlyReads = (program: string): boolean => ruleOf(program)?.reads === true;

export const isGit = (program: string): boolean => nameOf(program) === "git";

const ruleOf = (program: string): ProgramRule | undefined => PROGRAM_RULES.get(nameOf(program));

const nameOf = (program: string): string => program.slice(program.lastIndexOf("/") + 1).toLowerCase();

const words = (text: string): string[] => text.trim().split(/\s+/);

const NAMES: ReadonlySet<string> = new Set([
  // Reserved words and builtins that run text, change what a name means, or set variables such as PATH.
  ...words(`! [[ ]] { } if then else elif fi for while until do done case esac in function select time coproc
    . source eval exec command builtin trap alias unalias enable export readonly local declare typeset set unset shift
    read readarray mapfile getopts let hash shopt bind complete compgen fc return break continue`),
  // Shells, and programs that contain one.
  ...words(
    `sh bash dash ash zsh ksh ksh93 mksh yash csh tcsh fish rbash pwsh powershell cmd busybox toybox nu elvish xonsh`,
  ),
  // Languages, and tools whose input is a program.
  ...words(`python pypy ipython node nodejs deno bun perl ruby irb php lua luajit tclsh wish expect guile racket sbcl clisp
    ghci runghc erl escript elixir iex julia r rscript octave java jshell groovy scala kotlin swift dotnet mono awk gawk
    mawk nawk bc dc m4 jrunscript gdb lldb sqlite sqlite3 psql mysql mariadb mongo mongosh redis-cli gnuplot ghostscript gs
    tex latex pdflatex xelatex lualatex pandoc exiftool openssl gpg gpg2 gpgsm gpgconf original-awk goawk pgcli mycli litecli
    pg_dump pg_restore mysqldump duckdb clickhouse`),
  // Wrappers: the rest of the line is another command.
  ...words(`env xargs parallel nohup timeout nice ionice chrt taskset setsid setarch stdbuf unbuffer script watch entr flock
    sudo doas su runuser pkexec run0 chroot unshare nsenter bwrap firejail systemd-run start-stop-daemon daemon strace ltrace
    perf valgrind catchsegv ld.so prlimit cgexec numactl tmux screen dtach at batch crontab run-parts xdg-open open logrotate
    ssh ssh-keygen ssh-add ssh-agent ssh-copy-id autossh mosh scp sftp rsync rclone rsh telnet ftp lftp nc ncat netcat socat ip tcpdump nmap mount systemctl service launchctl osascript
    ldd ld-linux.so ld-linux-x86-64.so ld-linux-aarch64.so ld-musl pldd gdbserver rr uftrace bpftrace watchexec hyperfine
    which-command chpst setuidgid softlimit envdir dbus-run-session xvfb-run faketime proot fakeroot torsocks proxychains`),
  // Build tools and package managers run what files say, files that the agent can write.
  ...words(`make gmake bmake ninja meson cmake ctest bazel buck rake scons tup just task npm npx pnpm pnpx yarn bunx corepack
    pip pipx uv uvx poetry conda cargo rustc go gcc g++ cc c++ clang clang++ ld as javac mvn gradle gradlew ant sbt gem bundle
    bundler composer docker podman nerdctl kubectl helm vagrant ansible ansible-playbook terraform nix nix-shell nix-build
    hg svn bzr cvs darcs fossil jj gh glab tig lazygit ack eslint prettier stylelint webpack vite rollup mocha ava gulp grunt
    turbo nx lerna tsx ts-node libtool autoconf automake aclocal
    apt apt-get dpkg rpm dnf yum apk pacman brew snap flatpak pre-commit tox nox pytest jest vitest`),
  // Editors and pagers with a shell escape.
  ...words(
    `vi vim vimdiff view nvim ex ed emacs nano pico joe micro less more most man apropos info bat batcat pg
    zless zmore bzless bzmore xzless xzmore lzless lzmore rview rvim gvim gview evim vimtutor emacsclient kak helix hx ne jed
    mc ranger nnn lf vifm lynx w3m links mutt`,
  ),
]);
