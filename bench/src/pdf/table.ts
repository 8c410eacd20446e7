import type { PdfTime } from "./pdf.ts";

export function pdfTable(times: readonly PdfTime[]): string {
  const perSecond = (pages: number, ms: number): string => ((pages / ms) * 1000).toFixed(0);
  const rows = times.map(
    ({ file, pages, ms, pdftotextMs }) =>
      `| ${file} | ${pages} | ${ms.toFixed(0)} | ${perSecond(pages, ms)} | ${pdftotextMs.toFixed(0)} | ${perSecond(pages, pdftotextMs)} | ${(ms / pdftotextMs).toFixed(1)} |`,
  );
  return [
    "| PDF | pages | ms, with the start | pages/s | pdftotext ms | pages/s | × pdftotext |",
    "|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}
