/** The live log, filtered by level and by text. */
import type { LogLine, LogPage } from "@svc/api";
import { useEffect, useRef, useState } from "preact/hooks";
import { asApiError, type ApiError } from "../../client/api.ts";
import { Button } from "../../components/button.tsx";
import { Choice, SearchField } from "../../components/fields.tsx";
import { Command, Empty, Heading } from "../../components/layout.tsx";
import { Problem } from "../../components/shown.tsx";
import { Name } from "../../components/text.tsx";
import { useServices } from "../../services.ts";
import { useTick } from "../../state/use-window.ts";
import { exact } from "../../texts/format.ts";
import { dates, rich, t } from "../../texts/texts.ts";

const LEVELS = ["", "debug", "info", "warn", "error"] as const;
type Level = (typeof LEVELS)[number];

const REFRESH_MS = 2_000;
const MOST_READ = 200;
/** Older lines are dropped. */
const MOST_SHOWN = 1_000;
/** Delay between the last key press and the search. */
const DEBOUNCE_MS = 250;

interface LogBuffer {
  readonly lines: readonly (LogLine & { readonly n: number })[];
  readonly cursor: string | null;
  readonly isCut: boolean;
}

export function Logs() {
  const { api, route } = useServices();
  const { query } = route.value;
  const [level, setLevel] = useState<Level>(LEVELS.find((known) => known === query["level"]) ?? "");
  const [typed, setTyped] = useState(query["text"] ?? "");
  const [text, setText] = useState(typed);
  const [channel, setChannel] = useState(query["channel"] ?? "");
  const [isPaused, setPaused] = useState(false);
  const [buffer, setBuffer] = useState<LogBuffer>();
  const [error, setError] = useState<ApiError>();
  const count = useRef(0);
  const busy = useRef<AbortController | undefined>(undefined);
  useEffect(() => {
    const timer = setTimeout(() => setText(typed), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const read = async (since: LogBuffer | undefined): Promise<void> => {
    const call = new AbortController();
    busy.current = call;
    try {
      const filters = { level, text, channel, limit: MOST_READ, after: since?.cursor ?? undefined };
      const page = await api.get<LogPage>("/api/logs", filters, call.signal);
      const fresh = page.lines.map((line) => ({ ...line, n: (count.current += 1) }));
      const before = since !== undefined && !page.cut ? since.lines : [];
      setBuffer({
        lines: [...before, ...fresh].slice(-MOST_SHOWN),
        cursor: page.cursor,
        isCut: page.cut || (since?.isCut ?? false),
      });
      setError(undefined);
    } catch (cause) {
      if (!call.signal.aborted) setError(asApiError(cause));
    } finally {
      if (busy.current === call) busy.current = undefined;
    }
  };
  useEffect(() => {
    setBuffer(undefined);
    void read(undefined);
    return () => busy.current?.abort();
  }, [level, text, channel]);
  // The timer keeps its first callback, so read the current one through a ref.
  const tick = useRef(() => {});
  tick.current = () => {
    if (!isPaused && busy.current === undefined) void read(buffer);
  };
  useTick(REFRESH_MS, () => tick.current());
  const isFiltered = level + text + channel !== "";
  return (
    <>
      <Heading title={t("logs.logs")}>
        <Button onPress={() => setPaused(!isPaused)}>{isPaused ? t("common.go-on") : t("common.pause")}</Button>
      </Heading>
      <div class="filters">
        <Choice label={t("logs.at-least")} options={LEVELS} value={level} onChoose={setLevel} />
        <SearchField label={t("common.contains")} value={typed} onChange={setTyped} />
        <SearchField label={t("common.channel")} value={channel} onChange={setChannel} />
        {isPaused && <span role="status">{t("logs.paused")}</span>}
      </div>
      <Problem error={error} />
      {buffer === undefined && error === undefined && <p class="reading">{t("logs.reading")}</p>}
      {buffer?.lines.length === 0 && (
        <Empty title={isFiltered ? t("logs.no-line-fits-the-filter") : t("logs.the-log-is-empty")}>
          {isFiltered ? null : (
            <>
              {rich("logs.the-daemon-writes-it-while", {
                setting: <code>log.file</code>,
                command: <Command>svc logs -f</Command>,
              })}
            </>
          )}
        </Empty>
      )}
      {buffer !== undefined && buffer.lines.length > 0 && (
        <ol class="log-lines" aria-label={t("logs.lines-of-the-log-the")} tabIndex={0}>
          {buffer.lines.toReversed().map((line) => (
            <Line key={line.n} line={line} />
          ))}
        </ol>
      )}
      {buffer?.isCut && (
        <p class="hint">{rich("logs.older-lines-are-not-shown", { command: <Command>svc logs</Command> })}</p>
      )}
    </>
  );
}

function Line({ line: { time, level, message, fields } }: { readonly line: LogLine }) {
  return (
    <li class={`log-line ${level ?? "other"}`}>
      {time === null ? (
        <span />
      ) : (
        <time dateTime={time} title={exact(Date.parse(time))}>
          {dates({ timeStyle: "medium" }).format(Date.parse(time))}
        </time>
      )}
      <span class="log-level">{level ?? ""}</span>
      <span class="log-text">
        <Name>{message}</Name>{" "}
        {fields.map(({ name, value }) => (
          <span key={name} class="hint">
            <Name>{`${name}=${value}`}</Name>{" "}
          </span>
        ))}
      </span>
    </li>
  );
}
