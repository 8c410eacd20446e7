/** `__id__`: replies as JSON to a URL. */
import { defineFeature, httpUrl, secret } from "@svc/contract";
import * as v from "valibot";

const config = v.strictObject({
  api_url: v.pipe(httpUrl(), v.description("Where replies are posted.")),
  token: v.optional(v.pipe(secret(), v.description("Bearer token sent with every reply."))),
});

export type Config = v.InferOutput<typeof config>;

export default defineFeature({
  id: "__id__",
  __owns__: "__section__",
  config,
  load: () => import("./__name__.ts"),
});
