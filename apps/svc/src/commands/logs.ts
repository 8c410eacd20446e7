/** `svc logs`: the log files of the home, with or without a daemon; `-f` goes on as they grow. */
import { styleText } from "node:util";
import { homeOf } from "@svc/config";
import { EXIT, SvcError } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import { jsonLine, LOG_LEVELS, logFilePath, type LogLevel, readableLine, visible } from "@svc/runtime";
import type { CommandContext } from "../cli/command.ts";
import { fieldOf, matcher, parseSince, traceIdOf } from "../logs/filters.ts";
import { type LogLine, type Pause, readLog, type Wanted } from "../logs/read-log.ts";

const LINES_BY_DEFAULT = 100;
const POLL_MS = 250;

export async function run({ env, options, print }: CommandContext): Promise<number> {
  const path = logFilePath(homeOf(env));
  const follow = options.flag("follow");
  const show = options.flag("json") ? asJson : asText;
  const stop = follow ? stopSignal() : undefined;
  let any = false;
  for await (const line of readLog(path, wantedBy(options), stop && pauseUntil(stop))) {
    print(show(line));
    any = true;
  }
  if (!any && !follow) tellWhy(path);
  return EXIT.ok;
}

function wantedBy(options: CommandContext["options"]): Wanted {
  const sinceMs = sinceOf(options.text("since"));
  const count = countOf(options.text("lines"));
  const trace = options.text("trace");
  const ids = [
    ["turn", options.text("turn")],
    ["request", options.text("request")],
    ["trace", trace && traceIdOf(trace)],
    ["feature", options.text("feature")],
  ] as const;
  return {
    count: count ?? (sinceMs === undefined ? LINES_BY_DEFAULT : undefined),
    sinceMs,
    matches: matcher({
      level: levelOf(options.text("level")),
      sinceMs,
      fields: [
        ...ids.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
        ...options.texts("field").map(fieldOf),
      ],
      channel: options.text("channel"),
      grep: options.text("grep"),
    }),
  };
}

function levelOf(text: string | undefined): LogLevel | undefined {
  if (text === undefined) return undefined;
  const level = LOG_LEVELS.find((each) => each === text);
  if (level === undefined) throw new SvcError("USAGE", `--level must be one of: ${LOG_LEVELS.join(", ")}.`);
  return level;
}

function sinceOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseSince(text, systemClock.now());
  if (ms === undefined) throw new SvcError("USAGE", "--since must be like 90s, 10m, 2h or 7d, or a date and time.");
  return ms;
}

function countOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw new SvcError("USAGE", "--lines must be a whole number.");
  return Number(text);
}

/** Everything goes through `visible` or JSON: what a line holds was written by strangers. */
function asText({ text, entry }: LogLine): string {
  if (entry === undefined) return visible(text);
  const colour = COLOURS[entry.level];
  const line = readableLine({ ...entry, time: visible(entry.time) });
  return colour === undefined ? line : styleText(colour, line);
}

const COLOURS: Readonly<Partial<Record<LogLevel, "red" | "yellow" | "dim">>> = {
  error: "red",
  warn: "yellow",
  debug: "dim",
};

const asJson = ({ text, entry }: LogLine): string =>
  entry === undefined ? visible(JSON.stringify({ unreadable: text })) : jsonLine(entry);

/** Ctrl-C is how `-f` ends: that is no failure. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(name, () => stop.abort());
  return stop.signal;
}

const pauseUntil =
  (stop: AbortSignal): Pause =>
  () =>
    systemClock.sleep(POLL_MS, stop).then(
      () => true,
      () => false,
    );

/** On standard error: what reads the output gets lines or nothing. */
function tellWhy(path: string): void {
  process.stderr.write(`no such lines in ${visible(path)}; the daemon writes it while log.file is true\n`);
}
