/** The objects policies are made of, as they are stored: defaults are set, rules have been checked. */
import type { LabelSelectorObject } from '../../../api/label-selector.ts';
import type { Rule } from '../webhook/rules.ts';

export interface MatchResources {
  resourceRules?: (Rule & { resourceNames?: string[] })[];
  excludeResourceRules?: (Rule & { resourceNames?: string[] })[];
  matchPolicy?: 'Exact' | 'Equivalent';
  namespaceSelector?: LabelSelectorObject;
  objectSelector?: LabelSelectorObject;
}

export interface Validation {
  expression: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
}

export interface PolicySpec {
  paramKind?: { apiVersion?: string; kind?: string };
  matchConstraints?: MatchResources;
  matchConditions?: { name: string; expression: string }[];
  variables?: { name: string; expression: string }[];
  validations?: Validation[];
  auditAnnotations?: { key: string; valueExpression: string }[];
  failurePolicy?: 'Fail' | 'Ignore';
}

export interface ParamRef {
  name?: string;
  namespace?: string;
  selector?: LabelSelectorObject;
  parameterNotFoundAction?: 'Allow' | 'Deny';
}

export interface BindingSpec {
  policyName?: string;
  paramRef?: ParamRef;
  matchResources?: MatchResources;
  validationActions?: ('Deny' | 'Warn' | 'Audit')[];
}
