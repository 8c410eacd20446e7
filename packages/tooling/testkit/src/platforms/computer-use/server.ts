/**
 * A computer-use service, as strict as the protocol of docs/guide/browser.md: a request that does not fit it to the letter is
 * answered 400, and nothing happens on the screen.
 */
import type { Json } from "@svc/contract";
import * as v from "valibot";
import { type FakePlatform, type PlatformReply, type PlatformRequest, startPlatform } from "../base.ts";
import { computerUseRequest, type ComputerUseRequest } from "./protocol.ts";

export interface ComputerUseServerOptions {
  /** What must be the bearer; without one there must be none. */
  readonly key?: string;
}

export interface ComputerUseServer extends FakePlatform {
  /** What actions are posted to. */
  readonly endpoint: string;
  /** What was done on the screen, in order. */
  readonly done: readonly ComputerUseRequest[];
  /** What was wrong with requests that were refused. */
  readonly refused: readonly string[];
  /** The page in front. Starts as `about:blank`; an action `open` changes it. */
  front: { url: string; title: string };
  /** Answers in place of what it would: as JSON, or as whatever bytes. */
  answer: ((request: ComputerUseRequest) => PlatformReply | undefined) | undefined;
}

const PATH = "/v1/actions";

export async function startComputerUseServer({ key }: ComputerUseServerOptions = {}): Promise<ComputerUseServer> {
  const done: ComputerUseRequest[] = [];
  const refused: string[] = [];
  const no = (status: number, why: string): PlatformReply => {
    refused.push(why);
    return { status, json: { success: false, error: why } };
  };

  function take(request: PlatformRequest): PlatformReply {
    const { headers, method, path, json } = request;
    if (path !== PATH) return no(404, "not here");
    if (method !== "POST") return no(405, "not POST");
    if (headers["authorization"] !== (key === undefined ? undefined : `Bearer ${key}`)) return no(401, "not the key");
    if (headers["content-type"] !== "application/json") return no(415, "not JSON");
    const parsed = v.safeParse(computerUseRequest, json);
    if (!parsed.success) return no(400, v.summarize(parsed.issues));
    const action = parsed.output;
    const own = server.answer?.(action);
    if (own !== undefined) return own;
    done.push(action);
    return { json: { success: true, data: dataOf(action) } };
  }

  function dataOf({ action, params }: ComputerUseRequest): Json {
    if (action === "open") server.front = { url: (params as { url: string }).url, title: "A page" };
    const { url, title } = server.front;
    const picture = action === "screenshot" || action === "screen_capture";
    return { url, title, ...(picture && { image: ONE_PIXEL, width: 1280, height: 800 }) };
  }

  const platform = await startPlatform(take);
  const server: ComputerUseServer = Object.assign(platform, {
    endpoint: `${platform.url}${PATH}`,
    done,
    refused,
    front: { url: "about:blank", title: "" },
    answer: undefined,
  });
  return server;
}

/** A PNG of one pixel. */
const ONE_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
