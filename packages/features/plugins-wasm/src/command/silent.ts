/** Of commands that show all there is to say themselves. */
import type { Logger } from "@svc/contract";

export const SILENT: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
