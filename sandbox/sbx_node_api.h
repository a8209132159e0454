/*
 * sbx_node_api.h: the few calls of Node-API that the Node zygote makes.
 *
 * Node-API is one ABI for all versions of Node, so one build serves whichever
 * Node the host has, and building needs no headers of any (Debian's would
 * replace another Node on the build host).  Declared as in js_native_api.h of
 * version 8, statuses as int: 0 is napi_ok.
 */

#ifndef SBX_NODE_API_H
#define SBX_NODE_API_H

#include <stddef.h>
#include <stdint.h>

typedef struct napi_env_s *napi_env;
typedef struct napi_value_s *napi_value;
typedef struct napi_ref_s *napi_ref;
typedef struct napi_call_s *napi_callback_info;
typedef struct napi_scope_s *napi_handle_scope;
typedef napi_value (*napi_callback)(napi_env env, napi_callback_info info);

#define NAPI_AUTO_LENGTH  SIZE_MAX
#define NAPI_INVALID_ARG      1
#define NAPI_NUMBER_EXPECTED  6

int napi_create_function(napi_env env, const char *name, size_t len,
    napi_callback function, void *data, napi_value *result);
int napi_call_function(napi_env env, napi_value recv, napi_value function,
    size_t argc, const napi_value *argv, napi_value *result);
int napi_get_cb_info(napi_env env, napi_callback_info info, size_t *argc,
    napi_value *argv, napi_value *self, void **data);
int napi_get_global(napi_env env, napi_value *result);
int napi_set_named_property(napi_env env, napi_value object, const char *name,
    napi_value value);
int napi_create_array(napi_env env, napi_value *result);
int napi_set_element(napi_env env, napi_value array, uint32_t i,
    napi_value value);
int napi_create_int32(napi_env env, int32_t value, napi_value *result);
int napi_create_string_utf8(napi_env env, const char *text, size_t len,
    napi_value *result);
int napi_get_value_int32(napi_env env, napi_value value, int32_t *result);
int napi_coerce_to_number(napi_env env, napi_value value, napi_value *result);
int napi_get_new_target(napi_env env, napi_callback_info info,
    napi_value *result);
int napi_throw_type_error(napi_env env, const char *code, const char *message);
int napi_get_typedarray_info(napi_env env, napi_value array, int *type,
    size_t *len, void **data, napi_value *buffer, size_t *offset);
int napi_create_reference(napi_env env, napi_value value, uint32_t count,
    napi_ref *result);
int napi_get_reference_value(napi_env env, napi_ref ref, napi_value *result);
int napi_open_handle_scope(napi_env env, napi_handle_scope *result);
int napi_add_env_cleanup_hook(napi_env env, void (*hook)(void *), void *arg);

#endif
