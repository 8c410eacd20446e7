/** Requests to the platform by grammY, which is loaded with the first of them. */
import { type FeatureContext, type Json, SvcError } from "@svc/contract";
import type { Api, InputFile, RawApi } from "grammy/web";
import type { Config } from "../config.ts";
import { refusalOf } from "./refusal.ts";
import { guardedTransport } from "./transport.ts";

/** The types are those of grammY's other build, which brings an `AbortSignal` of its own. */
export type Signal = Parameters<RawApi["getMe"]>[0];

export interface BotApi {
  /**
   * What the platform answers, as it came. Throws what `refusalOf` makes of a refusal, and REMOTE_*; an abort with the
   * signal's reason.
   */
  call(work: (api: RawApi, signal: Signal) => Promise<unknown>, signal: AbortSignal): Promise<Json | undefined>;
  /** A file to upload. */
  upload(bytes: Uint8Array, name: string): Promise<InputFile>;
}

type Options = NonNullable<ConstructorParameters<typeof Api>[1]>;

export function createBotApi({
  config,
  fetch,
  clock,
}: Pick<FeatureContext<Config>, "config" | "fetch" | "clock">): BotApi {
  const transport = guardedTransport({ fetch, clock }) as unknown as NonNullable<Options["fetch"]>;
  const load = async () => {
    // Its build for the web: the requests are ours, and the other one brings an HTTP client that nobody uses.
    const grammy = await import("grammy/web");
    return { grammy, api: new grammy.Api(config.bot_token, { apiRoot: config.api_url, fetch: transport }).raw };
  };
  let loading: ReturnType<typeof load> | undefined;
  const loaded = () => (loading ??= load());

  return {
    async call(work, signal) {
      signal.throwIfAborted();
      const { grammy, api } = await loaded();
      try {
        return ((await work(api, signal as unknown as Signal)) ?? undefined) as Json | undefined;
      } catch (error) {
        signal.throwIfAborted();
        // Theirs hold all that was sent, secrets among it: neither is told, not even as a cause.
        if (error instanceof grammy.GrammyError) throw refusalOf(error);
        if (error instanceof grammy.HttpError) throw transportError(error.error);
        throw error;
      }
    },
    async upload(bytes, name) {
      const { grammy } = await loaded();
      // grammY writes the name as it is: with quotes around it, nothing in it can end it.
      return new grammy.InputFile(bytes, `"${name.replaceAll(/[\p{C}"\\]/gu, "_")}"`);
    },
  };
}

const transportError = (error: unknown): SvcError =>
  error instanceof SvcError ? error : new SvcError("REMOTE_UNREACHABLE");
