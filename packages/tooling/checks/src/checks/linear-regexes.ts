/**
 * A regular expression with quadratic time, or worse, lets the sender of a text block the one thread that serves all clients.
 * `recheck` judges each; its results are in a list, because judging takes minutes.
 */
import type { Check, Finding } from "../check.ts";
import { essenceOf, fingerprint, readWritten, type Regex, regexesOf, slowness, written } from "../regexes.ts";
import type { Workspace } from "../workspace.ts";

/** Fingerprints of those that were found to be linear. */
export const LINEAR_LIST = "packages/tooling/checks/linear-regexes.txt";

const SHIPS = /^(?:apps\/(?:svc|dashboard)|packages\/(?:core|features)\/[^/]+)\/src\//;

interface Exception {
  readonly file: string;
  readonly regex: string;
  readonly because: string;
}

/** They may be slow on a text that they never see. */
const EXCEPTIONS: readonly Exception[] = [];

interface Made {
  readonly file: string;
  /** What `RegExp` is called with, as it stands there. */
  readonly made: string;
  /** One that comes of it. */
  readonly like?: string;
  /** Why none is judged. */
  readonly because?: string;
}

/** For a regular expression built at run time: an example of the result, or why none is judged. */
const MADE: readonly Made[] = [
  {
    file: "packages/core/api/src/channel-events.ts",
    made: '`^[^\\\\p{Cs}\\\\0]{0,${most}}$`, "u"',
    like: "/^[^\\p{Cs}\\0]{0,128}$/u",
  },
  {
    file: "packages/core/gateway/src/http/request.ts",
    made: '`^${path .split(/\\{\\w+\\}/) .map(RegExp.escape) .join("[^/]+")}$`',
    like: "/^\\/api\\/sops\\/[^/]+\\/runs\\/[^/]+$/",
  },
  {
    file: "packages/core/config/src/key-text.ts",
    made: 'PART, "y"',
    because: "PART is judged where it is written",
  },
  {
    file: "packages/core/config/src/toml.ts",
    made: 'Object.getOwnPropertyNames(Object.prototype) .filter((name) => name !== "__proto__") .concat(String.raw`\\\\[uU]`) .join("|")',
    like: "/constructor|toString|\\\\[uU]/",
  },
  {
    file: "packages/core/config/src/secrets/redact.ts",
    made: 'forms.map((form) => RegExp.escape(form)).join("|"), "g"',
    like: "/secret|token/g",
  },
  {
    file: "packages/core/kit/src/mail/html-text.ts",
    made: '`</${name}[\\\\s/>]`, "gi"',
    like: "/<\\/script[\\s/>]/gi",
  },
  {
    file: "packages/core/kit/src/markdown/read.ts",
    made: 'Lexer.rules.block.normal.paragraph.source.replace("(?!", `(?!${TABLE_START}|`)',
    because: "it is the library's; the lexer bounds the characters that it scans by MAX_EFFORT",
  },
  {
    file: "packages/core/kit/src/markdown/read.ts",
    made: "`^${DELIMITER_ROW}$`",
    like: "/^ {0,3}\\|?(?: *:?-+:? *\\|)+(?: *:?-+:? *)?$/",
  },
  {
    file: "packages/core/kit/src/process/session-group.ts",
    made: '`^${word} (\\\\d+)$`, "m"',
    like: "/^populated (\\d+)$/m",
  },
  {
    file: "packages/features/channel-discord/src/interactions.ts",
    made: "`^${ID_START}([a-z0-9-]{1,32}):(yes|no)$`",
    like: "/^svc-prompt:([a-z0-9-]{1,32}):(yes|no)$/",
  },
  {
    file: "packages/features/channel-email/src/body.ts",
    made: '`^${name}((?:;[^:";]*(?:"[^"]*"[^:";]*)*)*):(.*)$`, "i"',
    like: '/^DTSTART((?:;[^:";]*(?:"[^"]*"[^:";]*)*)*):(.*)$/i',
  },
  {
    file: "packages/features/channel-mailpush/src/attachments.ts",
    made: '`"${name}"\\\\s*:\\\\s*"`',
    like: '/"data"\\s*:\\s*"/',
  },
  {
    file: "packages/features/channel-provider-a/src/delivery.ts",
    made: "`^${ID_START}([a-z0-9-]{1,32}):(yes|no)$`",
    like: "/^svc-prompt:([a-z0-9-]{1,32}):(yes|no)$/",
  },
  {
    file: "packages/features/channel-slack/src/events.ts",
    made: "`^\\\\s*<@${bot}(?:\\\\|[^<>]*)?>[\\\\s,:]*`",
    like: "/^\\s*<@U1(?:\\|[^<>]*)?>[\\s,:]*/",
  },
  {
    file: "packages/features/channel-slack/src/events.ts",
    made: "`<@${bot}[|>]`",
    like: "/<@U1[|>]/",
  },
  {
    file: "packages/features/rag-pdf/src/pdf-process.ts",
    made: '`^${name}:\\\\s+(\\\\d+) kB$`, "m"',
    like: "/^VmHWM:\\s+(\\d+) kB$/m",
  },
  {
    file: "packages/features/sandbox-container/src/inside.ts",
    made: "`^${name} [1-9][0-9]*$`",
    like: "/^oom_kill [1-9][0-9]*$/",
  },
  {
    file: "packages/features/sandbox-container/src/leftovers.ts",
    made: "`^${PREFIX}([0-9]+-[0-9]+)-`",
    like: "/^svc-container-([0-9]+-[0-9]+)-/",
  },
  {
    file: "packages/features/sandbox-container/src/workarounds.ts",
    made: '`^${name} +\\\\S+ +([0-9]+)`, "m"',
    like: "/^pids +\\S+ +([0-9]+)/m",
  },
];

export const linearRegexes: Check = {
  id: "linear-regexes",
  rule: "No regular expression takes time that grows faster than the text it looks at.",
  find: (workspace) => judged(workspace, MADE, EXCEPTIONS).findings,
};

/** The list as it should be. */
export const linearList = (workspace: Workspace): string =>
  judged(workspace, MADE, EXCEPTIONS).linear.toSorted().join("\n") + "\n";

interface Judged {
  readonly findings: readonly Finding[];
  readonly linear: readonly string[];
}

function judged(workspace: Workspace, made: readonly Made[], exceptions: readonly Exception[]): Judged {
  const known = new Set(workspace.files.get(LINEAR_LIST)?.split("\n"));
  const linear = new Set<string>();
  const used = new Set<Made | Exception>();
  const findings: Finding[] = [];
  const look = (regex: Regex): void => {
    const essence = essenceOf(regex);
    if (essence === undefined) return;
    const name = fingerprint(essence);
    if (known.has(name) || linear.has(name)) {
      linear.add(name);
      return;
    }
    const slow = slowness(essence);
    if (slow === undefined) {
      linear.add(name);
      findings.push({ ...placeOf(regex), ...UNLISTED, warning: true });
      return;
    }
    const exception = exceptions.find(({ file, regex: one }) => file === regex.file && one === written(regex));
    if (exception) used.add(exception);
    else findings.push({ ...placeOf(regex), message: `${written(regex)} ${slow}.`, fix: REWRITE });
  };
  for (const regex of workspace.sources((file) => SHIPS.test(file)).flatMap(regexesOf)) {
    if (regex.made === undefined) {
      look(regex);
      continue;
    }
    const entry = made.find((one) => one.file === regex.file && one.made === regex.made);
    if (entry === undefined) findings.push({ ...placeOf(regex), ...UNKNOWN });
    else {
      used.add(entry);
      if (entry.like !== undefined) look({ ...regex, ...readWritten(entry.like) });
    }
  }
  for (const entry of [...made, ...exceptions].filter((one) => !used.has(one) && workspace.files.has(one.file)))
    findings.push({
      file: entry.file,
      message: "A rule of linear-regexes names a regular expression that is gone.",
      fix: "Take it out.",
    });
  return { findings, linear: [...linear] };
}

const placeOf = ({ file, line }: Regex) => ({ file, line });

const REWRITE =
  "Use a loop, String methods or trimOf; or make each part begin with a character that the part before can't end with.";
const UNLISTED = { message: "A regular expression is linear and not in the list.", fix: "npm run checks -- --write" };
const UNKNOWN = {
  message: "A regular expression is built at run time, and the list has no example of it.",
  fix: "Add one to MADE in linear-regexes.ts.",
};
