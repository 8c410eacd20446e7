/** Tool calls as observers see them. Names are those of tools that there are: a model can call for anything. */
import type { Json } from "@svc/contract";
import { type Instruments, NO_INSTRUMENTS } from "@svc/kernel";
import { codeOf, watched } from "../observe/watched.ts";
import type { CallRequest, EndedCall } from "./call-tool.ts";
import type { ToolEnvironment } from "./environment.ts";
import type { PermittedCall } from "./permit.ts";
import { redactJson } from "./redact-json.ts";

/** `run` is the innermost piece of work meanwhile. */
export function watchedCall(
  { environment, tool, input }: PermittedCall,
  { callId, redact = asItIs }: CallRequest,
  run: () => Promise<EndedCall>,
): Promise<EndedCall> {
  const instruments = instrumentsOf(environment);
  if (!instruments.isWatched) return run();
  const work = instruments.begin("tool-call", { tool: tool.name, callId });
  const toldRun = async (): Promise<EndedCall> => {
    work.content("input", redactJson(input as Json, redact));
    const ended = await run();
    work.content("output", ended.output);
    return ended;
  };
  return watched(work, work.wantsContent ? toldRun : run, (error, ended) => ({
    error: ended && ended.state !== "finished" ? codeOf(ended.error, "TOOL_FAILED") : error,
  }));
}

/** One that did not run: its input was wrong, or the policy or a person said no. `calledAtMs`: when it was called for. */
export function tellRefusal(
  environment: ToolEnvironment | undefined,
  { name: tool, callId }: CallRequest,
  calledAtMs: number,
  error: unknown,
): void {
  if (!environment || !instrumentsOf(environment).isWatched || !environment.tools.some(({ name }) => name === tool))
    return;
  const work = instrumentsOf(environment).begin("tool-call", { tool, callId }, { startedAtMs: calledAtMs });
  work.end({ error: codeOf(error, "TOOL_FAILED") });
}

const instrumentsOf = ({ instruments = NO_INSTRUMENTS }: ToolEnvironment): Instruments => instruments;

const asItIs = (text: string): string => text;
