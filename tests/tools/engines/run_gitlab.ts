/** Runs gitlab-ci-local in the current directory. */
import "gitlab-ci-local";
