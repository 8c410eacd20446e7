/** A real collector on loopback: what it tells was decoded by the official bindings of OTLP, never by the encoder's authors. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { MissingPart } from "../require-real.ts";

export interface OtlpReceiver extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`, for `otel_endpoint`. */
  readonly url: string;
  readonly port: number;
  /** Requests taken so far, in order. */
  received(): Promise<OtlpRequest[]>;
  /** Spans of all of them. */
  spans(): Promise<OtlpSpan[]>;
  /** Why it refused requests. */
  refusals(): readonly string[];
  close(): Promise<void>;
}

export interface OtlpRequest {
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly spans: readonly OtlpSpan[];
  /** Of the body, once unpacked. */
  readonly bytes: number;
}

export interface OtlpSpan {
  readonly name: string;
  /** e.g. `SPAN_KIND_SERVER`. */
  readonly kind: string;
  /** Ids are lower-case hexadecimal. */
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: a root. */
  readonly parentSpanId: string;
  readonly startUnixNano: string;
  readonly endUnixNano: string;
  readonly flags: number;
  /** e.g. `STATUS_CODE_ERROR`. */
  readonly status: { readonly code: string; readonly message: string };
  readonly attributes: OtlpAttributes;
  readonly events: readonly { readonly name: string; readonly attributes: OtlpAttributes }[];
  readonly links: number;
  /** Name of the instrumentation scope. */
  readonly scope: string;
  readonly resource: OtlpAttributes;
}

/** `type`: the field of `AnyValue`, e.g. `string_value`. */
export type OtlpAttributes = Readonly<Record<string, { readonly type: string; readonly value: unknown }>>;

/** Debian's own: its packages are seen by no other. */
const PYTHON = "/usr/bin/python3";
const PROGRAM = join(import.meta.dirname, "otlp-receiver.py");

/** Undefined: all is there. */
export function missingOtlpReceiver(): MissingPart | undefined {
  const { status } = spawnSync(PYTHON, ["-c", "import opentelemetry.proto.collector.trace.v1.trace_service_pb2"]);
  if (status === 0) return undefined;
  return {
    name: "python3-opentelemetry-proto",
    reason: `${PYTHON} has no bindings of OTLP; apt-get install python3-opentelemetry-proto (Debian 12: from its backports)`,
  };
}

/** `port`: one that was free, to come back on. */
export async function startOtlpReceiver(port = 0): Promise<OtlpReceiver> {
  const child = spawn(PYTHON, [PROGRAM, String(port)], { stdio: ["pipe", "pipe", "pipe"] });
  const exited = once(child, "exit");
  const lines: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => lines.push(line));
  const started = once(createInterface({ input: child.stdout }), "line");
  await Promise.race([started, exited]);
  if (child.exitCode !== null) throw new Error(`the trace receiver did not start: ${lines.join("\n")}`);
  const [line] = (await started) as [string];
  const url = `http://127.0.0.1:${line}`;
  const received = async (): Promise<OtlpRequest[]> => (await (await fetch(`${url}/received`)).json()) as OtlpRequest[];
  const close = async (): Promise<void> => {
    child.stdin.end();
    await exited;
  };
  return {
    url,
    port: Number(line),
    received,
    spans: async () => (await received()).flatMap(({ spans }) => spans),
    refusals: () => lines.filter((line) => line.startsWith("refused: ")),
    close,
    [Symbol.asyncDispose]: close,
  };
}
