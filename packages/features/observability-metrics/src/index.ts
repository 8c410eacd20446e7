/** `observability-metrics`: `GET /metrics`, for Prometheus and other readers of its text format. */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "observability-metrics",
  extends: "observability",
  when: ({ backend }) => backend === "metrics",
  load: () => import("./metrics.ts"),
});
