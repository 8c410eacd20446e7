/** Procedures in the page: written, copied, switched, tried; their runs retried; what cron starts next. */
import type { Json } from "@svc/contract";
import { calendarJson, runJson } from "@svc/sop";
import type { GenericSchema } from "valibot";
import { errorReply, jsonReply, Reply } from "../http/reply.ts";
import type { GatewaySops, SopAuthor } from "../types.ts";
import type { ApiRequest, ApiRoute } from "./app.ts";
import { jsonBody } from "./body.ts";
import { type SettingsRouteDeps, versionOf } from "./settings.ts";
import * as spec from "./sop-desk-specs.ts";
import * as versions from "./sop-version-specs.ts";
import { byDevice } from "./sops.ts";

export interface SopDeskRouteDeps extends Pick<SettingsRouteDeps, "bodies" | "clock" | "settingsLimits"> {
  readonly sops: GatewaySops;
  readonly sopAuthor: SopAuthor;
}

export function sopDeskRoutes({
  sops,
  sopAuthor: author,
  bodies,
  clock,
  settingsLimits,
}: SopDeskRouteDeps): ApiRoute[] {
  const limited = ({ device }: ApiRequest): Reply | undefined => {
    const waitMs = settingsLimits.changes.take(device.id, clock.monotonic());
    return waitMs > 0 ? errorReply("RATE_LIMITED", { retryAfterMs: waitMs }) : undefined;
  };
  /** `act` is given the body as the schema makes it. As often as settings: a draft is checked while somebody types. */
  const writing =
    <Body>(schema: GenericSchema, act: (body: Body, request: ApiRequest) => Promise<Json>) =>
    async (request: ApiRequest): Promise<Reply> => {
      const refused = limited(request);
      if (refused) return refused;
      const body = await jsonBody(request, schema, bodies);
      return body instanceof Reply ? body : jsonReply(200, await act(body as Body, request));
    };
  return [
    { ...spec.READ, handle: async ({ params }) => jsonReply(200, await author.read(nameOf(params))) },
    { ...spec.DRAFT_CHECK, handle: writing<spec.DraftBody>(spec.DRAFT_BODY, (body) => author.check(body)) },
    {
      ...spec.SAVE,
      handle: writing<spec.SaveBody>(spec.SAVE_BODY, (body, { params, device }) =>
        author.save(nameOf(params), body, byDevice(device)),
      ),
    },
    {
      ...spec.COPY,
      handle: writing<{ name: string }>(spec.COPY_BODY, ({ name }, { params, device }) =>
        author.duplicate(nameOf(params), name, byDevice(device)),
      ),
    },
    {
      ...spec.SWITCH,
      handle: writing<{ enabled: boolean }>(spec.SWITCH_BODY, ({ enabled }, { params, device }) =>
        author.setEnabled(nameOf(params), enabled, byDevice(device)),
      ),
    },
    {
      ...spec.RENAME,
      handle: writing<{ name: string }>(spec.RENAME_BODY, ({ name }, { params, device }) =>
        author.rename(nameOf(params), name, byDevice(device)),
      ),
    },
    {
      ...spec.REMOVE,
      async handle(request) {
        const { device, params } = request;
        const refused = limited(request);
        if (refused) return refused;
        const { name, version } = (await author.delete(nameOf(params), byDevice(device))) as { [name: string]: Json };
        return jsonReply(200, { name: name!, deleted: true, version: version! });
      },
    },
    {
      ...versions.VERSIONS,
      handle: async ({ query }) => jsonReply(200, { versions: await author.versions((query as { sop?: string }).sop) }),
    },
    { ...versions.VERSION_DIFF, handle: async ({ params }) => jsonReply(200, await author.version(versionOf(params))) },
    {
      ...versions.UNDO,
      handle: writing<{ revision: string }>(versions.UNDO_BODY, ({ revision }, { params, device }) =>
        author.undo(versionOf(params), revision, byDevice(device)),
      ),
    },
    {
      ...spec.TEST,
      async handle(request) {
        const body = await jsonBody(request, spec.TEST_BODY, bodies);
        if (body instanceof Reply) return body;
        const { trigger, payload } = body as spec.TestBody;
        const sample = {
          ...(trigger !== undefined && { trigger }),
          payload: payload === undefined ? null : JSON.stringify(payload),
        };
        const run = await sops.test(nameOf(request.params), sample, { by: byDevice(request.device) });
        return jsonReply(202, { sop: run.sop, run_id: run.id });
      },
    },
    {
      ...spec.RETRY,
      async handle(request) {
        const body = await jsonBody(request, spec.RETRY_BODY, bodies);
        if (body instanceof Reply) return body;
        const { step } = body as { step: number };
        const { run, asks } = await sops.retry(request.params["id"] ?? "", step, { by: byDevice(request.device) });
        return jsonReply(202, { ...runJson(run), asks: [...asks] });
      },
    },
    {
      ...spec.CALENDAR,
      async handle({ query }) {
        const { days = 7, sop } = query as { days?: number; sop?: string };
        return jsonReply(200, calendarJson(await sops.calendar(days, sop)));
      },
    },
  ];
}

const nameOf = (params: ApiRequest["params"]): string => params["name"] ?? "";
