/**
 * An observer that records everything: events in order, and work as the tree that a trace would draw. What it gives
 * out as `traceparent` is well formed and the same in every run, and a call that breaks the contract throws.
 */
import {
  isTraceparent,
  type Json,
  type Observer,
  type SvcEvent,
  type Work,
  type WorkKind,
  type WorkResults,
} from "@svc/contract";

export interface RecordedWork<Kind extends WorkKind = WorkKind> extends Work<Kind> {
  /** undefined where the observer does not trace. */
  readonly traceparent: string | undefined;
  readonly children: readonly RecordedWork[];
  readonly content: readonly { readonly direction: "input" | "output"; readonly said: Json }[];
  /** undefined: it has not ended. */
  readonly result: WorkResults[Kind] | undefined;
  readonly endedAtMs: number | undefined;
}

export interface RecordingObserver extends Observer {
  readonly events: readonly SvcEvent[];
  /** In the order in which they began. */
  readonly works: readonly RecordedWork[];
  /** Those whose parent this observer did not see begin. */
  readonly roots: readonly RecordedWork[];
  /** Those that have not ended. */
  readonly open: readonly RecordedWork[];
  of<Kind extends WorkKind>(kind: Kind): readonly RecordedWork<Kind>[];
  /** One line per work, two spaces deeper than what it is part of, for a test to compare: `turn`, `  model-call`. */
  tree(line?: (work: RecordedWork) => string): string[];
}

export interface RecordingOptions {
  /** Gives out `traceparent`s, as a tracing backend does; a counting one gives none. Default: true. */
  readonly traces?: boolean;
  /** Wants what was said. Default: false. */
  readonly content?: boolean;
}

type Kept = { -readonly [Key in keyof RecordedWork]: RecordedWork[Key] } & {
  readonly children: RecordedWork[];
  readonly content: { direction: "input" | "output"; said: Json }[];
};

export function recordingObserver({ traces = true, content = false }: RecordingOptions = {}): RecordingObserver {
  const events: SvcEvent[] = [];
  const works: Kept[] = [];
  const roots: Kept[] = [];
  const byTraceparent = new Map<string, Kept>();
  return {
    events,
    works,
    roots,
    get open() {
      return works.filter((work) => work.endedAtMs === undefined);
    },
    of: <Kind extends WorkKind>(kind: Kind) =>
      works.filter((work) => work.kind === kind) as unknown as readonly RecordedWork<Kind>[],
    tree: (line = ({ kind }) => kind) => roots.flatMap((root) => linesOf(root, line, "")),
    record: (event) => void events.push(event),
    begin(work) {
      if (work.parent !== undefined && !isTraceparent(work.parent))
        throw new Error(`a parent that is none: ${work.parent}`);
      const traceparent = traces ? traceparentOf(works.length + 1, work.parent) : undefined;
      const recorded: Kept = {
        ...(work as Work),
        traceparent,
        children: [],
        content: [],
        result: undefined,
        endedAtMs: undefined,
      };
      works.push(recorded);
      (byTraceparent.get(work.parent ?? "")?.children ?? roots).push(recorded);
      if (traceparent !== undefined) byTraceparent.set(traceparent, recorded);
      return {
        ...(traceparent !== undefined && { traceparent }),
        ...(content && {
          content: (direction: "input" | "output", said: Json) => {
            if (recorded.endedAtMs !== undefined) throw new Error(`${work.kind}: something was said after its end`);
            recorded.content.push({ direction, said });
          },
        }),
        end: (result, endedAtMs) => {
          if (recorded.endedAtMs !== undefined) throw new Error(`${work.kind}: it ended twice`);
          recorded.result = result;
          recorded.endedAtMs = endedAtMs;
        },
      };
    },
  };
}

/** Of the trace of its parent, or of a new one; sampled. */
function traceparentOf(number: number, parent: string | undefined): string {
  const trace = parent?.slice(3, 35) ?? number.toString(16).padStart(32, "0");
  return `00-${trace}-${number.toString(16).padStart(16, "0")}-01`;
}

const linesOf = (work: RecordedWork, line: (work: RecordedWork) => string, indent: string): string[] => [
  `${indent}${line(work)}`,
  ...work.children.flatMap((child) => linesOf(child, line, `${indent}  `)),
];
