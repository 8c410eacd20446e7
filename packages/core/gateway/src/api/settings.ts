/** Settings in the page: the config file read, changed, and changed back. Operators only; no answer holds a secret. */
import type { Clock, Json } from "@svc/contract";
import type { GenericSchema } from "valibot";
import { errorReply, jsonReply, Reply } from "../http/reply.ts";
import type { SlidingWindow } from "../limits/sliding-window.ts";
import type { SettingsAdmin } from "../types.ts";
import type { ApiRequest, ApiRoute } from "./app.ts";
import { type BodyLimits, jsonBody } from "./body.ts";
import * as spec from "./settings-specs.ts";
import type { SettingsLimits } from "./settings-limits.ts";

export interface SettingsRouteDeps {
  readonly settingsAdmin: SettingsAdmin;
  readonly settingsLimits: SettingsLimits;
  readonly bodies: BodyLimits;
  readonly clock: Clock;
}

export function settingsRoutes({
  settingsAdmin: admin,
  settingsLimits: limits,
  bodies,
  clock,
}: SettingsRouteDeps): ApiRoute[] {
  const limited = (request: ApiRequest, window: SlidingWindow): Reply | undefined => {
    const waitMs = window.take(request.device.id, clock.monotonic());
    return waitMs === 0 ? undefined : errorReply("RATE_LIMITED", { retryAfterMs: waitMs });
  };
  /** `act` is given the body as the schema makes it. */
  const changing =
    <Body>(schema: GenericSchema, window: SlidingWindow, act: (body: Body, request: ApiRequest) => Promise<Json>) =>
    async (request: ApiRequest): Promise<Reply> => {
      const refused = limited(request, window);
      if (refused) return refused;
      const body = await jsonBody(request, schema, bodies);
      if (body instanceof Reply) return body;
      return jsonReply(200, await act(body as Body, request));
    };
  const { changes, tests } = limits;
  return [
    { ...spec.READ, handle: async () => jsonReply(200, (await admin.read()) as Json) },
    {
      ...spec.PREVIEW,
      handle: changing<spec.ChangeBody>(spec.CHANGE_BODY, changes, async (body) => (await admin.preview(body)) as Json),
    },
    {
      ...spec.SAVE,
      handle: changing<spec.SaveBody>(
        spec.SAVE_BODY,
        changes,
        async ({ revision, edits }, { device }) => (await admin.save({ edits }, revision, device.name)) as Json,
      ),
    },
    { ...spec.VERSIONS, handle: async () => jsonReply(200, { versions: await admin.versions() } as Json) },
    {
      ...spec.VERSION_DIFF,
      handle: async ({ params }) => jsonReply(200, { diff: await admin.changeOf(versionOf(params)) } as Json),
    },
    {
      ...spec.UNDO,
      handle: changing<{ revision: string }>(
        spec.UNDO_BODY,
        changes,
        async ({ revision }, { device, params }) =>
          (await admin.save({ undo: versionOf(params) }, revision, device.name)) as Json,
      ),
    },
    {
      ...spec.MODELS,
      handle: changing<spec.TryBody>(
        spec.TRY_BODY,
        tests,
        async (body, request) => (await admin.models(body, gone(request))) as Json,
      ),
    },
    {
      ...spec.MODEL_TEST,
      handle: changing<spec.TryBody>(
        spec.TRY_BODY,
        tests,
        async (body, request) => (await admin.testModel(body, gone(request))) as Json,
      ),
    },
    {
      ...spec.CHANNEL_TEST,
      handle: changing<spec.SendBody>(
        spec.SEND_BODY,
        tests,
        async (body, request) => (await admin.testChannel(body, gone(request))) as Json,
      ),
    },
  ];
}

/** 0 is the number of none. */
export const versionOf = ({ id = "" }: ApiRequest["params"]): number => (/^\d{1,9}$/.test(id) ? Number(id) : 0);

/** Aborted when nobody waits for the answer any more. */
function gone({ env: { outgoing } }: ApiRequest): AbortSignal {
  const controller = new AbortController();
  outgoing.once("close", () => controller.abort());
  return controller.signal;
}
