/** `@svc/gateway/openapi`: the document of the HTTP interface, without a gateway that runs. */
export { CORE_ROUTES } from "../routes/core.ts";
export { openApiDocument, type OpenApiOptions } from "./document.ts";
