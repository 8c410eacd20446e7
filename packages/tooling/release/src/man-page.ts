/** svc(1), made of the help that the binary prints, so that it names exactly the commands that are there. */

/** `help`: what `svc --help` prints without colours. */
export function manPage(help: string, version: string): string {
  const groups = help
    .split("\n\n")
    .slice(1)
    .map((block) => block.split("\n"))
    .filter(([title]) => title !== undefined && title !== "More" && !title.startsWith("Usage:"));
  const commands = groups.flatMap(([title = "", ...rows]) => [
    `.SS ${escape(title)}`,
    ...rows.flatMap((row) => {
      const [, word = "", summary = ""] = /^\s+(\S+)\s+(.*)$/.exec(row) ?? [];
      return [".TP", `.B svc ${escape(word)}`, escape(summary)];
    }),
  ]);
  return [
    `.TH SVC 1 "" "svc ${escape(version)}" "User Commands"`,
    ".SH NAME",
    String.raw`svc \- a self-hosted agent gateway`,
    ".SH SYNOPSIS",
    ".B svc",
    String.raw`.RI \fIcommand\fR [ options ]`,
    ".SH DESCRIPTION",
    "Chat providers, mail, phone, hardware and local programs send svc messages. An agent, a model with tools, takes a turn and",
    "answers where the message came from.",
    String.raw`\fBsvc\fR \fIcommand\fR \fB\-\-help\fR shows the options of a command, with examples.`,
    ".SH COMMANDS",
    ...commands,
    ".SH ENVIRONMENT",
    ".TP",
    ".B SVC_HOME",
    String.raw`Folder of config, keys and data (default: ~/.svc). The packaged service uses /var/lib/svc.`,
    ".TP",
    ".B SVC__SECTION__KEY",
    "Overrides a key of config.toml.",
    ".SH EXIT STATUS",
    String.raw`Those of sysexits.h: 0 success, 1 failure, 64 wrong arguments, 65 wrong data, 69 something is unavailable, 75 try again,`,
    "77 not permitted, 78 wrong config.",
    ".SH SEE ALSO",
    ".BR systemctl (1)",
    "",
  ].join("\n");
}

/** A line that begins with a dot or a quote would be a request of troff. */
const escape = (text: string): string =>
  text
    .replaceAll("\\", String.raw`\e`)
    .replaceAll("-", String.raw`\-`)
    .replace(/^(['.])/, String.raw`\&$1`);
