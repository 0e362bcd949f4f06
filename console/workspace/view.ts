/** What the server says about a workspace. */
export interface View {
  name: string;
  title: string;
  owner: string;
  role: 'student' | 'viewer';
  phase: string;
  waitsFor: string;
  expiresAt?: string;
  currentStep?: string;
  requestedStep?: string;
  steps: { id: string; title: string; group?: string; isPassed: boolean; locked?: string }[];
  content: string;
  hints?: string;
  checks: { name: string; passed?: boolean; message?: string }[];
}
