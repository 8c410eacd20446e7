/**
 * The exporter adds headers of OTEL_EXPORTER_OTLP_* to those it is given, and reads files that such variables name: a
 * secret meant for another program's collector would go to ours. The configuration says what is sent, and nothing else.
 */
export function withoutEnvironment<T>(make: () => T): T {
  const environment = process.env;
  process.env = {};
  try {
    return make();
  } finally {
    process.env = environment;
  }
}
