/** `tool-parcels`: where a carrier's customers have their parcels. */
import { defineFeature, httpUrl, integer, secret } from "@svc/contract";
import * as v from "valibot";

const config = v.strictObject({
  api_url: v.pipe(httpUrl(), v.description("The carrier's API.")),
  api_key: v.pipe(secret(), v.nonEmpty(), v.description("Key of our account there.")),
  calls_per_client: v.optional(v.pipe(integer(1, 1000), v.description("Questions that one client may ask.")), 5),
});
export type Config = v.InferOutput<typeof config>;

export default defineFeature({
  id: "tool-parcels",
  section: "parcels",
  config,
  load: () => import("./parcels.ts"),
});
