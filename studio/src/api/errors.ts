/** Problem details of the server (RFC 9457), as an error with a message for users. */
export type ProblemDetail = {
  path?: string;
  message: string;
  severity?: string;
  code?: string;
  activity_id?: string | null;
};

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: readonly ProblemDetail[];

  constructor(status: number, code: string, message: string, details: readonly ProblemDetail[] = []) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

type Problem = { title?: string; detail?: unknown; code?: string; errors?: ProblemDetail[] | null };

export async function errorOf(response: Response): Promise<ApiError> {
  const problem = (await response.json().catch(() => ({}))) as Problem;
  const text = typeof problem.detail === "string" && problem.detail ? problem.detail : problem.title;
  return new ApiError(
    response.status,
    problem.code ?? `http.${response.status}`,
    text ?? `The server responded with ${response.status} ${response.statusText}`,
    problem.errors ?? [],
  );
}
