/** Instants as a person reads them: UTC, of the ISO text that the service tells. */
export const minute = (iso: string): string => iso.slice(0, 16).replace("T", " ");
export const second = (iso: string): string => iso.slice(0, 19).replace("T", " ");
