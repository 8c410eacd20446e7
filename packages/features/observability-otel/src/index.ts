/** `observability-otel`: traces, by OTLP over HTTP. */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "observability-otel",
  extends: "observability",
  when: ({ backend }) => backend === "otel",
  load: () => import("./otel.ts"),
});
