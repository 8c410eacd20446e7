/** `rag-pdf`: text of PDF files. */
import { defineFeature } from "@svc/contract";

export default defineFeature({
  id: "rag-pdf",
  load: () => import("./pdf.ts"),
});
