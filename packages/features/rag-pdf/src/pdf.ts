import type { Contributions, FeatureContext } from "@svc/contract";
import { pdfPages } from "./pdf-pages.ts";
import { pdfRead } from "./pdf-read.ts";
import { pdfReader } from "./pdf-reader.ts";

export function create(context: FeatureContext<unknown>): Contributions {
  const pdf = pdfPages(context);
  return { tools: [pdfRead(pdf)], readers: [pdfReader(pdf)] };
}
