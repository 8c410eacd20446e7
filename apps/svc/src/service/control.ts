/** The control socket with the messages of `@svc/api/control`: calls of commands, and handlers of the service, by their names. */
import type { ControlAnswer, ControlBody, ControlEvent, ControlInput, ControlName } from "@svc/api/control";
import { type Json, SvcError } from "@svc/contract";
import {
  callDaemon as post,
  type ControlCall as JsonCall,
  type ControlHandlers,
  type ControlRequest,
} from "@svc/gateway/control";

export type ControlCall<Name extends ControlName> = {
  readonly name: Name;
  readonly onEvent?: (event: ControlEvent<Name>) => void;
  readonly signal?: AbortSignal;
} & (Record<never, never> extends ControlInput<Name>
  ? { readonly body?: ControlInput<Name> }
  : { readonly body: ControlInput<Name> });

export type Call = <Name extends ControlName>(call: ControlCall<Name>) => Promise<ControlAnswer<Name>>;

/** What the daemon answers is taken for what the message promises. Throws what it answers, NOT_RUNNING, DAEMON_*. */
export const daemonAt =
  (socketFile: string): Call =>
  async <Name extends ControlName>(call: ControlCall<Name>) => {
    const asJson: unknown = call;
    return (await post({ ...(asJson as Omit<JsonCall, "socketFile">), socketFile })) as ControlAnswer<Name>;
  };

/** A message whose body was checked. */
export interface Request<Name extends ControlName> {
  readonly body: ControlBody<Name>;
  /** Aborted when the caller goes away, or the daemon stops and its patience is over. */
  readonly signal: AbortSignal;
  /** Sends an event ahead of the answer. */
  send(event: ControlEvent<Name>): void;
}

export type Handlers = {
  readonly [Name in ControlName]: (request: Request<Name>) => ControlAnswer<Name> | Promise<ControlAnswer<Name>>;
};

/** For the control socket. */
export const controlHandlers = (handlers: Handlers): ControlHandlers =>
  Object.fromEntries(
    (Object.keys(handlers) as ControlName[]).map((name) => [
      name,
      async ({ body, signal, send }) =>
        (await handle(handlers, name, body, { signal, send: (event) => send(event as JsonEvent) })) as Json,
    ]),
  );

type JsonEvent = Parameters<ControlRequest["send"]>[0];

/** In this process, as the daemon would. Throws NOT_RUNNING for what only a daemon can do. */
export const answer = <Name extends ControlName>(
  handlers: Partial<Handlers>,
  { name, body, onEvent }: ControlCall<Name>,
  signal: AbortSignal,
): Promise<ControlAnswer<Name>> => handle(handlers, name, body ?? {}, { signal, send: (event) => onEvent?.(event) });

async function handle<Name extends ControlName>(
  handlers: Partial<Handlers>,
  name: Name,
  body: unknown,
  rest: Omit<Request<Name>, "body">,
): Promise<ControlAnswer<Name>> {
  const handler: Handlers[Name] | undefined = handlers[name];
  if (!handler) throw new SvcError("NOT_RUNNING", undefined, { hint: "Start it with: svc daemon" });
  return handler({ body: await checked(name, body), ...rest });
}

/** Throws USAGE with the sentence of the message's schema, and BAD_REQUEST where it has none. */
async function checked<Name extends ControlName>(name: Name, body: unknown): Promise<ControlBody<Name>> {
  // With the first message: a start, and a command that asks a daemon, need no schemas.
  const { CONTROL, safeParse } = await import("@svc/api/control");
  const result = safeParse(CONTROL[name].input, body, { message: "", abortEarly: true });
  if (result.success) return result.output as ControlBody<Name>;
  const { message } = result.issues[0];
  throw message === "" ? new SvcError("BAD_REQUEST") : new SvcError("USAGE", message);
}
